// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;
// Compiled once into compiled.json, which names the compiler and its settings.

interface Transferable {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// Holds what it is created with.
contract Holder {
    constructor() payable {}
}

/// Leaves what it is created with to somebody else.
contract Legacy {
    constructor(address payable heir) payable {
        selfdestruct(heir);
    }
}

/// Pays in all the ways in which contracts do. It spends what the call brings, and its own tokens.
contract Payer {
    receive() external payable {}

    function pay(address to) public payable {
        send(to, msg.value);
    }

    function payMany(address[] calldata to, uint256[] calldata amounts) external payable {
        for (uint256 i = 0; i < to.length; i++) send(to[i], amounts[i]);
    }

    /// Pays by creating a contract at `holderOf(salt)`.
    function create(bytes32 salt) external payable {
        new Holder{value: msg.value, salt: salt}();
    }

    function holderOf(bytes32 salt) external view returns (address) {
        bytes32 code = keccak256(type(Holder).creationCode);
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"ff", address(this), salt, code)))));
    }

    function destroyTo(address payable to) external payable {
        new Legacy{value: msg.value}(to);
    }

    /// Runs the code of an address with the value of this call, which moves nothing.
    function delegateTo(address to) external payable {
        (bool done,) = to.delegatecall("");
        require(done, "not delegated");
    }

    function payToken(Transferable token, address to, uint256 amount) external {
        require(token.transfer(to, amount), "not transferred");
    }

    function payTokenFrom(Transferable token, address from, address to, uint256 amount) external {
        require(token.transferFrom(from, to, amount), "not transferred");
    }

    function payTokenMany(Transferable token, address[] calldata to, uint256[] calldata amounts) external {
        for (uint256 i = 0; i < to.length; i++) {
            require(token.transfer(to[i], amounts[i]), "not transferred");
        }
    }

    /// Pays, and takes it back by failing.
    function payAndFail(address to) public payable {
        send(to, msg.value);
        revert("as asked");
    }

    /// Like `payAndFail`, in a call whose failure is caught, so that the transaction succeeds; then pays
    /// one wei.
    function payAndCatch(address to) external payable {
        try this.payAndFail{value: msg.value}(to) {} catch {}
        send(to, 1);
    }

    function payTokenAndFail(Transferable token, address to, uint256 amount) public {
        token.transfer(to, amount);
        revert("as asked");
    }

    function payTokenAndCatch(Transferable token, address to, uint256 amount) external {
        try this.payTokenAndFail(token, to, amount) {} catch {}
        token.transfer(to, 1);
    }

    function send(address to, uint256 amount) private {
        (bool done,) = to.call{value: amount}("");
        require(done, "not sent");
    }
}
