/**
 * Programs that read many balances in one `eth_call`. Each runs as the creation code of a contract, but in no
 * transaction, so nothing has to be deployed. The addresses follow the program, 20 bytes each; the balances are
 * returned as words.
 */
export interface BalanceProgram {
  /** Hex digits without 0x. */
  readonly code: string;
  /** Balances of one call. */
  readonly perCall: number;
}

/**
 * Native balances. It uses no instruction that is younger than Ethereum itself. The response of a creation counts as the
 * code of a contract, of which 24,576 bytes are allowed (EIP-170): 768 balances of 32 bytes each.
 */
export const NATIVE_BALANCES: BalanceProgram = {
  perCall: 700,
  code: [
    // The next balance goes to memory from 32 on; the first address is behind the program.
    '6020', //   00 PUSH1 32        to
    '6027', //   02 PUSH1 39        to from
    // Copies an address to memory from 12 to 32, which makes it a word: the bytes before stay 0.
    '5b', //     04 JUMPDEST        to from
    '6014', //   05 PUSH1 20        to from 20
    '81', //     07 DUP2            to from 20 from
    '600c', //   08 PUSH1 12        to from 20 from 12
    '39', //     0a CODECOPY        to from
    '6000', //   0b PUSH1 0         to from 0
    '51', //     0d MLOAD           to from address
    '31', //     0e BALANCE         to from balance
    '82', //     0f DUP3            to from balance to
    '52', //     10 MSTORE          to from
    '6014', //   11 PUSH1 20        to from 20
    '01', //     13 ADD             to from+20
    '90', //     14 SWAP1           from+20 to
    '6020', //   15 PUSH1 32        from+20 to 32
    '01', //     17 ADD             from+20 to+32
    '90', //     18 SWAP1           to from
    // Goes on until the end of the code.
    '38', //     19 CODESIZE        to from size
    '81', //     1a DUP2            to from size from
    '10', //     1b LT              to from (from < size)
    '6004', //   1c PUSH1 4         to from (from < size) 4
    '57', //     1e JUMPI           to from
    '50', //     1f POP             to
    '6020', //   20 PUSH1 32        to 32
    '90', //     22 SWAP1           32 to
    '03', //     23 SUB             to-32
    '6020', //   24 PUSH1 32        to-32 32
    'f3', //     26 RETURN
  ].join(''),
};

/** Stands for a balance that cannot be read: no token has so many units. */
export const UNREADABLE_BALANCE = 2n ** 256n - 1n;

/**
 * Balances of tokens, by `balanceOf(address)` of their contracts. Pairs of a contract and an address follow the
 * program. For a contract that reverts, or returns less than a word, the result is `UNREADABLE_BALANCE`. Some contracts
 * take 30,000 gas for a call, and nodes allow 50 million or fewer.
 */
export const TOKEN_BALANCES: BalanceProgram = {
  perCall: 200,
  code: [
    // The selector goes to memory from 28 to 32, right before the address: the input of each call begins there.
    '6370a08231', // 00 PUSH4 balanceOf
    '6000', //   05 PUSH1 0         balanceOf 0
    '52', //     07 MSTORE
    // The next balance goes to memory from 96 on; the first pair is behind the program.
    '6060', //   08 PUSH1 96        to
    '604c', //   0a PUSH1 76        to from
    // Copies the contract to memory from 76 to 96 and the address from 44 to 64, which makes them words.
    '5b', //     0c JUMPDEST        to from
    '6014', //   0d PUSH1 20        to from 20
    '81', //     0f DUP2            to from 20 from
    '604c', //   10 PUSH1 76        to from 20 from 76
    '39', //     12 CODECOPY        to from
    '6014', //   13 PUSH1 20        to from 20
    '81', //     15 DUP2            to from 20 from
    '6014', //   16 PUSH1 20        to from 20 from 20
    '01', //     18 ADD             to from 20 from+20
    '602c', //   19 PUSH1 44        to from 20 from+20 44
    '39', //     1b CODECOPY        to from
    // Calls the contract with the 36 bytes from 28 on; its word goes where the balance belongs.
    '6020', //   1c PUSH1 32        to from 32
    '82', //     1e DUP3            to from 32 to
    '6024', //   1f PUSH1 36        to from 32 to 36
    '601c', //   21 PUSH1 28        to from 32 to 36 28
    '6040', //   23 PUSH1 64        to from 32 to 36 28 64
    '51', //     25 MLOAD           to from 32 to 36 28 contract
    '5a', //     26 GAS             to from 32 to 36 28 contract gas
    'fa', //     27 STATICCALL      to from succeeded
    '601f', //   28 PUSH1 31        to from succeeded 31
    '3d', //     2a RETURNDATASIZE  to from succeeded 31 size
    '11', //     2b GT              to from succeeded (size > 31)
    '16', //     2c AND             to from isRead
    // 0 if the balance was read; otherwise all ones, which make it UNREADABLE_BALANCE.
    '6001', //   2d PUSH1 1         to from isRead 1
    '90', //     2f SWAP1           to from 1 isRead
    '03', //     30 SUB             to from isRead-1
    '82', //     31 DUP3            to from isRead-1 to
    '51', //     32 MLOAD           to from isRead-1 balance
    '17', //     33 OR              to from balance
    '82', //     34 DUP3            to from balance to
    '52', //     35 MSTORE          to from
    '6028', //   36 PUSH1 40        to from 40
    '01', //     38 ADD             to from+40
    '90', //     39 SWAP1           from+40 to
    '6020', //   3a PUSH1 32        from+40 to 32
    '01', //     3c ADD             from+40 to+32
    '90', //     3d SWAP1           to from
    '38', //     3e CODESIZE        to from size
    '81', //     3f DUP2            to from size from
    '10', //     40 LT              to from (from < size)
    '600c', //   41 PUSH1 12        to from (from < size) 12
    '57', //     43 JUMPI           to from
    '50', //     44 POP             to
    '6060', //   45 PUSH1 96        to 96
    '90', //     47 SWAP1           96 to
    '03', //     48 SUB             to-96
    '6060', //   49 PUSH1 96        to-96 96
    'f3', //     4b RETURN
  ].join(''),
};
