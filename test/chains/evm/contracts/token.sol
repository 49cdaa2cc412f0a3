// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;
// Compiled once into compiled.json, which names the compiler and its settings.

/// An ERC-20 for tests: anybody mints, and a part of each transfer may be kept as a fee.
/// It needs no constructor, so its code also works at an address that it is put to.
contract Token {
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    uint256 public totalSupply;
    /// Hundredths of a percent of each transfer that do not arrive.
    uint256 public fee;
    /// One more than the decimals; 0 for the usual 6.
    uint256 private decimalsPlusOne;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function decimals() external view returns (uint8) {
        return decimalsPlusOne == 0 ? 6 : uint8(decimalsPlusOne - 1);
    }

    function setDecimals(uint8 value) external {
        decimalsPlusOne = uint256(value) + 1;
    }

    function setFee(uint256 value) external {
        fee = value;
    }

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        move(from, to, value);
        return true;
    }

    function move(address from, address to, uint256 value) private {
        uint256 kept = value * fee / 10_000;
        balanceOf[from] -= value;
        balanceOf[to] += value - kept;
        emit Transfer(from, to, value - kept);
        if (kept > 0) {
            balanceOf[address(this)] += kept;
            emit Transfer(from, address(this), kept);
        }
    }
}
