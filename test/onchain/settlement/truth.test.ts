import { expect, test } from 'vitest';
import { cloneDatabase } from '../../helpers/database.ts';
import { GROUP } from './truth/course.ts';
import { examine } from './truth/examine.ts';
import { drawHistory } from './truth/history.ts';
import { type FaultKind, judge } from './truth/judge.ts';
import { playGroup } from './truth/play.ts';
import { type Rows, readRows } from './truth/rows.ts';
import { openStage, type Stage } from './truth/stage.ts';

/** Histories of each group; groups differ in when watchers and workers run. */
const EACH = 64;
const GROUPS = [0, 1];

const seedsOf = (group: number) =>
  Array.from({ length: EACH }, (_, index) => group * GROUP + index);

async function onStage(work: (stage: Stage) => Promise<void>): Promise<void> {
  const database = await cloneDatabase();
  const stage = await openStage(database.url);
  try {
    await work(stage);
  } finally {
    await stage.close();
    await database.drop();
  }
}

test.each(GROUPS)('nothing is lost or credited wrongly in random histories of group %i', group =>
  onStage(async stage => {
    const { failures, tally } = await examine(stage, seedsOf(group));
    expect(failures.map(({ text }) => text).join('\n\n')).toBe('');
    expect(tally.histories).toBe(EACH);
    expect(tally.transfers).toMatchObject({ 'credited: exact': expect.any(Number) });
  }),
);

/** Puts a wrong outcome into correct rows; returns undefined where the history has no row for it. */
const WRONGS: readonly [string, FaultKind, (rows: Rows) => Rows | undefined][] = [
  [
    'a transfer that another payment got',
    'wrong credit',
    rows => {
      const credited = rows.deposits.find(({ payment_id: id }) => id !== null);
      const other = rows.payments.find(({ id }) => id !== credited?.payment_id);
      if (credited === undefined || other === undefined) return undefined;
      const wrong = { ...credited, payment_id: other.id };
      return { ...rows, deposits: rows.deposits.map(each => (each === credited ? wrong : each)) };
    },
  ],
  [
    'a transfer that is not there',
    'lost transfer',
    rows =>
      rows.deposits.length === 0 ? undefined : { ...rows, deposits: rows.deposits.slice(1) },
  ],
  [
    'a transfer that its payment did not get',
    'lost transfer',
    rows =>
      rows.deposits.some(({ payment_id: id }) => id !== null)
        ? { ...rows, deposits: rows.deposits.map(each => ({ ...each, payment_id: null })) }
        : undefined,
  ],
  [
    'an unmatched transfer of which nobody is told',
    'lost transfer',
    rows =>
      rows.events.some(({ payment_id: id }) => id === null)
        ? { ...rows, events: rows.events.filter(({ payment_id: id }) => id !== null) }
        : undefined,
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
    'a payment that expired though it was paid',
    'expired though paid',
    rows =>
      rows.payments.some(({ status }) => status === 'successful')
        ? {
            ...rows,
            payments: rows.payments.map(each => ({ ...each, session_status: 'expired' as const })),
          }
        : undefined,
  ],
  [
    'an event too many',
    'other deviation',
    ({ events, ...rows }) =>
      events.some(({ payment_id: id }) => id !== null)
        ? { ...rows, events: [...events, ...events.filter(({ payment_id: id }) => id !== null)] }
        : undefined,
  ],
];

test('every kind of wrong outcome is found', () =>
  onStage(async stage => {
    const played = await playGroup(stage, seedsOf(0).map(drawHistory));
    const all = [...(await readRows(stage, played))];
    for (const [what, kind, spoil] of WRONGS) {
      const kinds = all.flatMap(([each, rows]) => {
        const spoilt = spoil(rows);
        return spoilt === undefined ? [] : [judge(each, spoilt).map(fault => fault.kind)];
      });
      expect(kinds.length, what).toBeGreaterThan(0);
      const found = kinds.filter(list => list.includes(kind));
      // Who sent the transfer is known only where the payer was in time and sent exactly what was asked for.
      if (kind === 'expired though paid') expect(found.length, what).toBeGreaterThan(0);
      else expect(found.length, what).toBe(kinds.length);
    }
  }));
