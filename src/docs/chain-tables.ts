import { type Chain, listChains } from '../chains/chain-list.ts';
import { describeFinality, isTestNetwork } from './fact-tables.ts';
import { formatDuration } from './format-duration.ts';
import { code, table } from './write-markdown.ts';

/** Those of production first. */
const CHAINS = listChains().toSorted((one, other) => Number(isTest(one)) - Number(isTest(other)));

/**
 * Calls to the primary node in a minute, those of batches included: without an open payment, and with
 * open ones. Measured with nodes whose blocks came as fast as those of the chain; the mempool's
 * transactions are those of an ordinary day.
 */
const CALLS_A_MINUTE: readonly (readonly [string, number, string])[] = [
  ['btc', 6, '18, and one for each new transaction in the mempool: some 400'],
  ['eth', 6, '40'],
  ['bnb', 6, '320'],
  ['avax', 6, '140'],
  ['sol', 6, '180 with a hundred addresses, 2,160 with ten thousand'],
  ['tron', 6, '100, and 180 more while tokens are paid'],
];

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

export function costTable(): string {
  return table(
    ['chain', 'no open payment', 'open payments in the native asset'],
    CALLS_A_MINUTE.map(([chain, idle, open]) => [code(chain), idle, open]),
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
