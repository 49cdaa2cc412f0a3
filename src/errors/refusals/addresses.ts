import { ADDRESS_PROBLEMS, type AddressProblem } from './address-problems.ts';
import { wordRefusal } from './wording.ts';

/** Refusals about networks, branches and their deposit addresses, and about changes of where money goes. */
export const ADDRESSES = {
  'network-unknown': ({ blockchainId }: { blockchainId: string }) =>
    `There is no network ${blockchainId}.`,
  'branch-unknown': ({ branchId }: { branchId: string }) => `There is no branch ${branchId}.`,
  'branch-of-other': ({ branchId }: { branchId: string }) =>
    `The merchant has no branch ${branchId}.`,
  'main-branch-missing': 'The merchant has no main branch.',
  'too-many-branches': ({ maximum }: { maximum: number }) =>
    `A merchant may have at most ${maximum} branches.`,
  'branch-name-taken': ({ name }: { name: string }) =>
    `The merchant has a branch named ${name} already.`,
  'branch-already-main': 'It is the main branch already.',

  'address-invalid': ({ problem }: { problem: AddressProblem }) =>
    `The address is refused: ${wordRefusal(ADDRESS_PROBLEMS, problem)}.`,
  'wallet-invalid': ({ problem }: { problem: AddressProblem }) =>
    `The wallet is refused: ${wordRefusal(ADDRESS_PROBLEMS, problem)}.`,
  'wallet-only-bitcoin': ({ blockchainId }: { blockchainId: string }) =>
    `Only Bitcoin has wallets with an address for each payment, and ${blockchainId} does not.`,
  'wallet-taken':
    'Another account of this service has this wallet, or had it until lately: it would not be clear whose a deposit is. If it is yours, ask your operator.',
  'wallet-of-other-kind':
    'The merchant has this wallet with addresses of another kind. Remove it there first.',
  'wallet-already-set': 'The branch has this wallet already.',
  'wallet-alone':
    'The branch has a wallet on this network, which needs no further addresses: set an address in its place, or remove it.',
  'address-of-contract': ({ blockchainId }: { blockchainId: string }) =>
    `The address is refused: this is the contract of ${blockchainId}, not a wallet.`,
  'address-on-main-network': ({ blockchainId }: { blockchainId: string }) =>
    `A test merchant has addresses on test networks alone, and ${blockchainId} is a main network.`,
  'address-taken':
    'Another account of this service has this address, or had it until lately: it would not be clear whose a deposit is. If it is yours, ask your operator.',
  'address-already-set': 'The branch has this address already.',
  'too-many-addresses': ({ maximum }: { maximum: number }) =>
    `A branch may have at most ${maximum} addresses on a network.`,
  'addresses-missing': ({ blockchainId }: { blockchainId: string }) =>
    `The branch has no address on ${blockchainId}.`,
  'address-not-named': ({ count, blockchainId }: { count: number; blockchainId: string }) =>
    `The branch has ${count} addresses on ${blockchainId}: name the one to remove.`,
  'address-missing': ({ blockchainId }: { blockchainId: string }) =>
    `The branch does not have this address on ${blockchainId}.`,
  'address-not-shared': ({ merchantId }: { merchantId: string }) =>
    `Merchant ${merchantId} does not have this address.`,
  'address-not-held': 'The merchant does not have this address.',
  'address-in-force':
    'The address is in force for the merchant, or waits to be: remove it, or cancel the change, first.',

  'addresses-changed':
    'The addresses were changed while this form was open. Look at them, then try again.',
  'change-already-waits': 'Another change of this waits already: cancel it first.',
  'change-ended': 'This change does not wait any more.',
  'change-is-own': 'You have proposed this change: it takes another admin.',
  'one-admin-enough': 'One admin is enough already.',
  'other-admin-missing': 'Nobody else signs in as an admin: invite a second one first.',
  'recovered-lately': ({ freeAt }: { freeAt: Date }) =>
    `A link gave you a new password or authenticator app: you may do this from ${minute(freeAt)} on.`,
  'admin-too-new': ({ freeAt }: { freeAt: Date }) =>
    `You have not been an admin, with your present password and codes, for long enough: you may do this from ${minute(freeAt)} on.`,
} as const;

function minute(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
