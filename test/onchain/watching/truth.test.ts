import { expect, test } from 'vitest';
import { cloneDatabase } from '../../helpers/database.ts';
import type { FaultKind } from '../settlement/truth/judge.ts';
import { examineChains } from './truth/examine.ts';
import { type ChainRows, judgeChain, readChainRows } from './truth/judge.ts';
import { playChains } from './truth/play.ts';
import { CHAIN_GROUP } from './truth/slots.ts';
import { type ChainStage, openChainStage } from './truth/stage.ts';
import { drawWorld, type World } from './truth/world.ts';

const seedsOf = (group: number) =>
  Array.from({ length: CHAIN_GROUP }, (_, index) => group * CHAIN_GROUP + index);

async function onStage(work: (stage: ChainStage) => Promise<void>): Promise<void> {
  const database = await cloneDatabase();
  const stage = await openChainStage(database.url);
  try {
    await work(stage);
  } finally {
    await stage.close();
    await database.drop();
  }
}

/**
 * Each of these groups has a node that leaves out a transaction, without which a payment would expire if no other
 * node were asked.
 */
test.each([18, 25, 48])(
  'nothing is lost or credited wrongly on the generated chains of group %i',
  group =>
    onStage(async stage => {
      const { failures, tally } = await examineChains(stage, seedsOf(group));
      expect(failures.map(({ text }) => text).join('\n\n')).toBe('');
      expect(tally).toMatchObject({ chains: CHAIN_GROUP, 'blocks undone': expect.any(Number) });
      expect(Object.keys(tally).some(name => name.startsWith('left out'))).toBe(true);
    }),
  60_000,
);

const FALSE_HOLD: ChainRows['findings'][number] = {
  id: '',
  chain: 'eth',
  kind: 'unexplained_inflow',
  blockchain_id: 'eth',
  address: '0x00',
  transaction_hash: null,
  position: null,
  amount: '1',
  height: 20,
  since_height: 10,
  detail: 'nothing',
  found_at: new Date('2026-05-18'),
  resolved_at: null,
};

/** Puts a wrong outcome into correct rows; returns undefined where the chain has no row for it. */
const WRONGS: readonly [
  string,
  FaultKind,
  (rows: ChainRows, world: World) => ChainRows | undefined,
][] = [
  [
    'a transfer at another position',
    'wrong credit',
    rows => changed(rows, row => ({ ...row, position: row.position + 90 })),
  ],
  [
    'a transfer of another amount',
    'wrong credit',
    rows => changed(rows, row => ({ ...row, token_amount: String(BigInt(row.token_amount) * 2n) })),
  ],
  ['a transfer that is recorded twice', 'wrong credit', rows => changed(rows, row => row, true)],
  [
    'a transfer that is not final',
    'lost transfer',
    rows => changed(rows, row => ({ ...row, state: 'seen' })),
  ],
  [
    'a transfer that was made a day later',
    'other deviation',
    rows => changed(rows, row => ({ ...row, earliest_at: new Date('2026-05-20') })),
  ],
  [
    'a payment that is successful without funds',
    'unfunded',
    rows => ({
      ...rows,
      payments: rows.payments.map(each => ({ ...each, status: 'successful' as const })),
      deposits: [],
    }),
  ],
  [
    'a payment that is open in the end',
    'lost transfer',
    rows => ({
      ...rows,
      payments: rows.payments.map(each => ({ ...each, status: 'pending' as const })),
    }),
  ],
  [
    'a finding that holds payments, though no node leaves anything out there',
    'other deviation',
    rows => ({ ...rows, findings: [...rows.findings, FALSE_HOLD] }),
  ],
  [
    "a payment at its wallet's last address, while the first was free",
    'other deviation',
    ({ reservations: [first, ...others], ...rows }, { wallet }) =>
      first === undefined || wallet === null || wallet.addresses.length === 1
        ? undefined
        : {
            ...rows,
            reservations: [{ ...first, address: wallet.addresses.at(-1) ?? '' }, ...others],
          },
  ],
  [
    'parts that an expired payment did not get, though they came to its own address',
    'lost transfer',
    (rows, { wallet }) =>
      wallet === null || !rows.deposits.some(({ outcome }) => outcome === 'under')
        ? undefined
        : {
            ...rows,
            payments: rows.payments.map(each => ({
              ...each,
              status: 'expired' as const,
              session_status: 'expired' as const,
            })),
            deposits: rows.deposits.map(each => ({ ...each, payment_id: null })),
          },
  ],
];

function changed(
  rows: ChainRows,
  change: (row: ChainRows['deposits'][number]) => ChainRows['deposits'][number],
  isMore = false,
): ChainRows | undefined {
  const [first, ...others] = rows.deposits.filter(({ state }) => state === 'final');
  if (first === undefined) return undefined;
  return { ...rows, deposits: [change(first), ...(isMore ? [first] : []), ...others] };
}

test(
  'every kind of wrong outcome on a chain is found',
  () =>
    onStage(async stage => {
      const played = await playChains(stage, seedsOf(0).map(drawWorld));
      const all = [...(await readChainRows(stage, played))];
      for (const [what, kind, spoil] of WRONGS) {
        const kinds = all.flatMap(([each, rows]) => {
          const spoilt = spoil(rows, each.world);
          return spoilt === undefined
            ? []
            : [judgeChain(stage, each, spoilt).map(fault => fault.kind)];
        });
        expect(kinds.length, what).toBeGreaterThan(0);
        expect(kinds.filter(list => list.includes(kind)).length, what).toBe(kinds.length);
      }
    }),
  60_000,
);
