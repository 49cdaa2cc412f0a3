import { type Chain, type ChainId, chainOf, listChains } from '#chains/chain-list.ts';
import { describeFinality, isTestNetwork } from './fact-tables.ts';
import { formatDuration } from './format-duration.ts';
import { code, table } from './write-markdown.ts';

/** Those of production first. */
const CHAINS = listChains().toSorted((one, other) => Number(isTest(one)) - Number(isTest(other)));

/**
 * Calls to the primary node in a day, each one of a batch: without an open payment, and with 10 and 100 around
 * the clock. As `npm run bench -- calls` prints it.
 */
const CALLS_A_DAY: readonly (readonly [string, number, number, number])[] = [
  ['btc', 5904, 366192, 366192],
  ['eth-usdt', 8640, 76320, 76320],
  ['eth', 8640, 72000, 72000],
  ['bnb-usdt', 8640, 263520, 263520],
  ['bnb', 8640, 499248, 499248],
  ['avax', 8640, 230400, 230400],
  ['sol-usdc', 8640, 144000, 403200],
  ['sol', 8640, 129600, 259200],
  ['tron-usdt', 8640, 259200, 259200],
  ['tron', 8640, 144000, 144000],
];

/**
 * Processor time to prove a block by its receipts, in milliseconds, as `npm run bench -- calls` prints it for 200
 * receipts (Ethereum) and for 100 (BNB Smart Chain); null where a block cannot be proven.
 */
const PROOF_MS: readonly (readonly [ChainId, number | null])[] = [
  ['eth', 7],
  ['bnb', 3.3],
  ['avax', null],
];
const MINUTE_MS = 60_000;
/** A header, and all receipts. */
const CALLS_OF_PROOF = 2;

/** The longest month, which a monthly quota has to last for. */
const DAYS_A_MONTH = 31;

/**
 * Free and first paid plans, as found in November 2026: developers.tron.network/v4.7.0/reference/rate-limits;
 * docs.metamask.io/services/get-started/pricing; helius.dev/docs/billing/credits; for QuickNode and Chainstack
 * what a call costs from quicknode.com/api-credits and docs.chainstack.com/docs/request-units, and what the
 * plans include from a directory (github.com/api-evangelist, May 2026).
 */
const PROVIDERS: readonly {
  readonly provider: string;
  /** Cost of a call in words, and in the units that the plans include. */
  readonly cost: string;
  readonly unitsPerCall: number;
  readonly plans: readonly (readonly [name: string, units: number, per: 'day' | 'month'])[];
}[] = [
  {
    provider: 'TronGrid',
    cost: '1 request',
    unitsPerCall: 1,
    plans: [['free', 100_000, 'day']],
  },
  {
    provider: 'Infura',
    cost: '80 credits, more for some methods; 180 on Solana',
    unitsPerCall: 80,
    plans: [
      ['free', 3_000_000, 'day'],
      ['Developer', 15_000_000, 'day'],
    ],
  },
  {
    provider: 'Helius (Solana)',
    cost: '1 credit; 10 for a transaction, signatures or a block',
    unitsPerCall: 1,
    plans: [
      ['free', 1_000_000, 'month'],
      ['Developer', 10_000_000, 'month'],
    ],
  },
  {
    provider: 'QuickNode',
    cost: '20 credits; 10 on Bitcoin, 30 on Solana and Tron, twice that for a trace',
    unitsPerCall: 20,
    plans: [
      ['free', 10_000_000, 'month'],
      ['Build', 80_000_000, 'month'],
    ],
  },
  {
    provider: 'Chainstack',
    cost: '1 request unit; 2 for a trace',
    unitsPerCall: 1,
    plans: [
      ['Developer (free)', 3_000_000, 'month'],
      ['Growth', 20_000_000, 'month'],
    ],
  },
];

const grouped = (count: number) => count.toLocaleString('en-US');

function isTest({ id }: Chain): boolean {
  return isTestNetwork(id);
}

/** What may watch each chain, and how long it may lag. */
export function chainTable(): string {
  return table(
    ['chain', 'a node of', 'looked at every', 'not offered at a lag above'],
    CHAINS.map(({ id, identities, pauseMs, offeredLagMs }) => [
      code(id),
      identities
        .map(one => (one.private ? `${one.name} (not in production)` : one.name))
        .join(', '),
      formatDuration(pauseMs / 1000),
      formatDuration(offeredLagMs / 1000),
    ]),
  );
}

/** What watching costs in calls a day. */
export function costTable(): string {
  return table(
    ['paid in', 'no open payment', '10 open payments', '100 open payments'],
    CALLS_A_DAY.map(([network, ...calls]) => [code(network), ...calls.map(grouped)]),
  );
}

/** What it takes to prove every block by its receipts, and when that is done. */
export function proofTable(): string {
  return table(
    ['chain', 'blocks a minute', 'calls a minute', 'processor time a minute', 'proven'],
    PROOF_MS.map(([id, perBlock]) => {
      const { blockMs, provesReceipts } = chainOf(id);
      const blocks = MINUTE_MS / blockMs;
      if (perBlock === null) return [code(id), grouped(blocks), 'none', 'none', 'never'];
      return [
        ...[code(id), grouped(blocks), grouped(CALLS_OF_PROOF * blocks)],
        `${Math.round(perBlock * blocks)} ms`,
        provesReceipts ? 'at the second look' : 'where two nodes contradict each other',
      ];
    }),
  );
}

/** How many calls a day the plans of providers have. */
export function planTable(): string {
  return table(
    ['provider', 'a call costs', 'plan', 'includes', 'calls a day'],
    PROVIDERS.flatMap(({ provider, cost, unitsPerCall, plans }) =>
      plans.map(([name, units, per]) => [
        provider,
        cost,
        name,
        `${grouped(units)} a ${per}`,
        grouped(Math.floor(units / unitsPerCall / (per === 'day' ? 1 : DAYS_A_MONTH))),
      ]),
    ),
  );
}

/** The rule of finality of each chain, and how long it usually takes. */
export function ruleTable(): string {
  const groups = Map.groupBy(CHAINS, ({ finality, usualFinalityMs, tipIsFinal }) =>
    JSON.stringify([finality, usualFinalityMs, tipIsFinal]),
  );
  return table(
    ['chain', 'rule', 'meaning', 'at most, usually'],
    [...groups.values()].map(chains => {
      const [{ finality, usualFinalityMs }] = chains as [Chain];
      return [
        chains.map(({ id }) => code(id)).join(', '),
        code(finality),
        describeFinality(finality),
        formatDuration(usualFinalityMs / 1000),
      ];
    }),
  );
}
