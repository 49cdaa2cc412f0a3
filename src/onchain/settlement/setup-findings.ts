import type { Coded, CodedArguments } from '#errors/refusals/wording.ts';

/** What is set up until a first payment can settle, or what fails without it, by code, in English. */
export const SETUP_FINDINGS = {
  'account-ready': 'It is active and has a main branch.',
  'account-inactive': 'The account is inactive: its keys are refused with E2008.',
  'account-not-approved': ({ status }: { status: 'pending' | 'rejected' }) =>
    `Its onboarding is ${status}: its keys are refused with E2102.`,
  'main-branch-missing': 'It has no main branch: creations are refused with E1030.',

  'processor-ready': 'Payments on US accounts are collected by the processor.',
  'processor-missing':
    'No processor is configured: creations on US accounts are refused with E1030.',
  'processor-sandbox': 'Payments of a test merchant on a US account are collected by the sandbox.',

  'networks-offered': ({ networks }: { networks: string }) =>
    `Networks that are offered: ${networks}.`,
  'networks-off': ({ networks }: { networks: string }) =>
    `Nodes watch ${networks}, but no operator has switched a network on: creations are refused with E1020.`,
  'node-missing':
    'No node watches a chain, so no network is offered: creations are refused with E1020.',

  'addresses-set': ({ networks }: { networks: string }) =>
    `The main branch has addresses on ${networks}.`,
  'addresses-of-wallet': ({ networks, wallets }: { networks: string; wallets: string }) =>
    `The main branch has addresses on ${networks}. Each payment gets one of its own from a wallet: ${wallets}.`,
  'addresses-shared': ({ networks, shared }: { networks: string; shared: string }) =>
    `The main branch has addresses on ${networks}. Another merchant has ${shared} as well: what no payment takes there is seen by operators alone.`,
  'addresses-missing': 'The main branch has no address: creations are refused with E1020.',
  'addresses-elsewhere': ({ networks }: { networks: string }) =>
    `The main branch has addresses on ${networks} alone, which no customer is offered: creations are refused with E1020.`,

  'networks-watched': ({ networks }: { networks: string }) => `Watched in time: ${networks}.`,
  'networks-simulated': ({ networks }: { networks: string }) =>
    `Nothing has to be watched: payments on ${networks} are simulated.`,
  'chain-halted': ({ chain, reason }: { chain: string; reason: string }) =>
    `The chain ${chain} is halted: ${reason}`,
  'worker-missing': ({ networks }: { networks: string }) =>
    `No worker watches ${networks} in time: customers cannot choose a network. Is one running?`,

  'domain-ready': 'Customers may be redirected to its domains.',
  'domain-missing': 'No domain is allowed: a redirectUrl is refused with E1010.',

  'key-of-partner': 'Its partner has a key that creates payments for it.',
  'key-switched-off':
    'Its partner has switched keys of its merchants off (E2103), and has no key of its own.',
  'key-ready': 'A key may create payments.',
  'key-missing': 'No key may create payments: a server has nothing to sign its requests with.',

  'webhook-ready': 'An endpoint is told of events.',
  'webhook-missing':
    'No webhook endpoint: a server learns outcomes only by asking for each payment.',

  'person-ready': 'Somebody signs in to the panel.',
  'person-missing':
    'Nobody signs in to the panel: deposits that no payment took are seen by operators alone.',
  'panel-missing': 'There is no panel: deposits that no payment took are seen by operators alone.',

  'loss-unnoticed':
    'An asynchronous standby follows the database: if it is promoted, the newest payments are lost, and nothing says so.',
} as const;

/** A code of `SETUP_FINDINGS` with its values. */
export type SetupFinding = Coded<keyof typeof SETUP_FINDINGS>;

/** A code, and its values if its sentence has any. */
export type SetupFindingArguments = CodedArguments<typeof SETUP_FINDINGS>;
