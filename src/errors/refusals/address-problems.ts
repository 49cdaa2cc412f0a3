import type { Coded, CodedArguments } from './wording.ts';

/** What is wrong with an address, by code, in English. The texts complete a sentence. */
export const ADDRESS_PROBLEMS = {
  'text-too-long': 'the text is too long to be an address',
  'address-empty': 'the address is empty',
  'space-around': 'there is white space before or after the address',
  'space-inside': 'there is white space inside the address',
  'payment-link': 'this is a payment link: give the address alone',
  'look-alike': ({ position, codePoint }: { position: number; codePoint: string }) =>
    `character ${position} is not a plain letter or digit (${codePoint}): it may only look like one`,
  'private-key':
    'this is a private key, which this service must never have. It was not stored. Whoever has seen it can take the money: move it to a new wallet',
  'seed-words':
    'these are the words of a wallet, which this service must never have. They were not stored. Whoever has seen them can take the money: move it to a new wallet',
  'foreign-character': ({ position, character }: { position: number; character: string }) =>
    `character ${position} is "${character}", which such an address never contains`,
  'length-wrong': 'the length is wrong: characters are missing or there are too many',
  'checksum-wrong': 'the checksum does not match',
  'checksum-mistyped': 'the checksum does not match: a character is mistyped',
  'other-coin': 'this address belongs to another coin',
  'burn-address': 'this is a burn address: nobody can spend from it',

  'wrapped-coin-contract': ({ coin }: { coin: string }) =>
    notWallet(`the contract of wrapped ${coin}`),
  'known-burn-address': notWallet('a burn address'),

  'bitcoin-start-wrong': 'a Bitcoin address begins with 1, 3 or bc1',
  'bitcoin-test-start-wrong': 'a Bitcoin testnet address begins with m, n, 2 or tb1',
  'bitcoin-on-testnet': 'this is a testnet address: a mainnet address begins with 1, 3 or bc1',
  'bitcoin-on-mainnet': 'this is a mainnet address: a testnet address begins with m, n, 2 or tb1',
  'segwit-on-other-network': ({ network, prefix }: { network: string; prefix: string }) =>
    `this is a ${network} address: one for this network begins with ${prefix}1`,
  'segwit-case-mixed': 'capital and small letters are mixed: a bc1 or tb1 address has only one',
  'segwit-checksum-wrong': 'the checksum does not match: a character is mistyped or missing',
  'segwit-checksum-of-other-version': (values: {
    version: number;
    checksum: string;
    expected: string;
  }) =>
    `the checksum is ${values.checksum} where witness version ${values.version} needs ${values.expected}: the wallet that wrote it is faulty or outdated`,
  'segwit-empty': 'the address has no content',
  'segwit-version-unknown': ({ version }: { version: number }) =>
    `witness version ${version} does not exist`,
  'segwit-version-unused': ({ version }: { version: number }) =>
    `witness version ${version} is not in use yet: anybody could spend from it`,
  'segwit-bits-stray': 'the address ends in stray bits: it was not written by a wallet',
  'segwit-length-wrong': ({ version, bytes }: { version: number; bytes: number }) =>
    `the length is wrong: witness version ${version} with ${bytes} bytes is no wallet's address`,
  'taproot-key-invalid': 'nobody can spend from this address: its taproot key is not valid',

  'wallet-empty': 'the key is empty',
  'wallet-key-unknown':
    'this is no extended public key (xpub, ypub, zpub; tpub, upub, vpub on a test network), and no descriptor',
  'wallet-multisig':
    'it is the key of a wallet that several people sign for, whose addresses one key does not give',
  'wallet-depth': ({ depth }: { depth: number }) =>
    `it is at depth ${depth} of its wallet, where no account is: give the key of the account`,
  'wallet-hardened':
    'the path below the key is hardened: addresses there cannot be derived from a public key',
  'wallet-path-fixed':
    'the path below the key leads to one address: it has to end in /*, for example /0/*',
  'wallet-change-path':
    'the path leads to the addresses for change: give the one for receiving, usually /0/*',
  'wallet-descriptor-unknown':
    'the descriptor is none of pkh, sh(wpkh), wpkh and tr with one extended public key',
  'wallet-descriptor-checksum': 'the checksum of the descriptor, after the #, does not match',
  'wallet-on-testnet':
    'this is a key of a test network: one of the main network begins with xpub, ypub or zpub',
  'wallet-on-mainnet':
    'this is a key of the main network: one of a test network begins with tpub, upub or vpub',
  'wallet-address-kind': 'the address is of a kind that no wallet with one key has',
  'wallet-address-of-change':
    'the address is one for change: give the next unused receiving address',
  'wallet-address-not-found': ({ searched, addresses }: { searched: number; addresses: string }) =>
    `the address is not among the first ${searched} receiving addresses of the key. Those begin with ${addresses}. Another account or another wallet has the address, or the key is another one`,

  'evm-start-wrong': ({ network }: { network: string }) =>
    `an address on ${network} begins with 0x`,
  'evm-start-missing': 'the 0x at the front is missing',
  'evm-start-capital': 'the 0x at the front must have a small x',
  'evm-digit-wrong': ({ position, character }: { position: number; character: string }) =>
    `character ${position} is "${character}": after 0x only 0 to 9 and a to f may follow`,
  'evm-length-wrong': ({ length }: { length: number }) =>
    `after 0x 40 characters must follow, and there are ${length}`,
  'evm-checksum-wrong':
    'the checksum (the pattern of capital letters) does not match: a character is mistyped',
  'evm-hash-or-key': 'this is a transaction hash or a private key, not an address',
  'evm-zero-address': 'this is the zero address: nobody can spend from it',
  'evm-reserved-address': 'this is a reserved or burn address: nobody can spend from it',
  'avalanche-other-chain':
    'this is an Avalanche X-Chain or P-Chain address: a C-Chain address beginning with 0x is needed',
  'bnb-beacon-chain':
    'this is a BNB Beacon Chain address: a BNB Smart Chain address beginning with 0x is needed',
  'evm-token-contract': ({ token, network }: { token: string; network: string }) =>
    notWallet(`the contract of ${token} on ${network}`),
  'ethereum-deposit-contract': notWallet('the deposit contract of Ethereum'),
  'native-coin-placeholder': notWallet('the placeholder for the native coin'),

  'solana-key-or-signature': 'this is a private key or a transaction signature, not an address',
  'solana-off-curve':
    "this is not a wallet's address: it is a token account, another program's account (a multisig vault among them), or mistyped",
  'solana-key-impossible': 'no wallet can have this address: a character is mistyped',
  'solana-program': ({ program }: { program: string }) => notWallet(`the ${program} program`),
  'solana-first-memo-program': notWallet('the first Memo program'),
  'solana-program-loader': notWallet('the program loader'),
  'solana-system-variable': notWallet('a system variable'),
  'solana-incinerator': notWallet('the incinerator that burns tokens'),
  'solana-mint': ({ token }: { token: string }) => notWallet(`the mint of ${token}`),
  'solana-devnet-mint': ({ token }: { token: string }) =>
    notWallet(`the mint of ${token} on devnet`),
  'solana-wrapped-mint': notWallet('the mint of wrapped SOL'),

  'tron-start-wrong': 'a Tron address begins with T',
  'tron-length-wrong': ({ length, expected }: { length: number; expected: number }) =>
    `a Tron address has ${expected} characters, and this has ${length}`,
  'tron-hexadecimal':
    'this is the hexadecimal form of a Tron address: give the form that begins with T',
  'tron-reserved-address': 'this is the zero address or a reserved one: nobody can spend from it',
  'tron-token-contract': ({ token }: { token: string }) => notWallet(`the contract of ${token}`),
  'tron-blackhole': notWallet('the blackhole account that burns coins'),
} as const;

/** What is wrong with an address; the text itself is no value of it. */
export type AddressProblem = Coded<keyof typeof ADDRESS_PROBLEMS>;

/** A code, and its values if its text has any. */
export type AddressProblemArguments = CodedArguments<typeof ADDRESS_PROBLEMS>;

function notWallet(what: string): string {
  return `this is ${what}, not a wallet`;
}
