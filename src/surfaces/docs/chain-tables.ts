import { type Chain, type ChainId, chainOf, listChains } from '#chains/chain-list.ts';
import { describeFinality, isTestNetwork } from './fact-tables.ts';
import { formatDuration } from './format-duration.ts';
import { code, table } from './write-markdown.ts';

/** Production chains first. */
const CHAINS = listChains().toSorted((one, other) => Number(isTest(one)) - Number(isTest(other)));

/**
 * Calls to the primary node in a day, counting each call of a batch: without open payments, and with 10 and with 100
 * open around the clock. As `npm run bench -- calls` prints it.
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
