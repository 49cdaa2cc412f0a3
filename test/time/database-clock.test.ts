import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createDatabaseClock } from '#time/database-clock.ts';
import { runs } from '../helpers/property-runs.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A machine and a database, whose clocks run as the test says. */
function createMachine(wallAhead = 0) {
  let real = Date.UTC(2026, 6, 1);
  /** Time since the machine started. */
  let timer = 5 * HOUR;
  /** How far the database's clock is ahead of the real time. */
  let databaseAhead = 0;
  /** How long request and response take. */
  let takes = [0, 0];
  let onWay: () => void = () => undefined;
  let isAway = false;
  const lines: string[] = [];
  const note = (level: string) => (_: unknown, message: string) =>
    void lines.push(`${level} ${message}`);
  const pass = (ms: number) => {
    real += ms;
    timer += ms;
  };
  const clock = createDatabaseClock({
    wall: () => real + wallAhead,
    monotonic: () => timer,
    log: { info: note('info'), warn: note('warn'), error: note('error') } as never,
    ask: async () => {
      pass(takes[0] ?? 0);
      if (isAway) throw new Error('away');
      const time = real + databaseAhead;
      onWay();
      pass(takes[1] ?? 0);
      return time;
    },
  });
  return {
    clock,
    lines,
    pass,
    /** The difference from the database's clock. */
    error: () => clock.now() - (real + databaseAhead),
    /** Timers stand still meanwhile. */
    suspend(ms: number) {
      real += ms;
    },
    setWall(ahead: number) {
      wallAhead = ahead;
    },
    setDatabase(ahead: number) {
      databaseAhead = ahead;
    },
    /** Sets how the next responses come. */
    answer(how: { takes?: [number, number]; isAway?: boolean; onWay?: () => void }) {
      takes = how.takes ?? [0, 0];
      isAway = how.isAway ?? false;
      onWay = how.onWay ?? (() => undefined);
    },
  };
}

test('uses the machine’s clock before the first response, and lets nothing be written', () => {
  const { clock, error } = createMachine(5 * SECOND);
  expect(error()).toBe(5 * SECOND);
  expect(clock.offsetSeconds()).toBeUndefined();
  expect(clock.state()).toBe('unavailable');
  expect(clock.reason()).toBe('the database has not told its time yet');
});

test.each([HOUR, -HOUR])('a jump of the machine’s clock by %i ms has no effect', async by => {
  const machine = createMachine(SECOND);
  const { clock } = machine;
  await clock.measure();
  machine.pass(20 * SECOND);
  expect([machine.error(), clock.reason()]).toEqual([0, null]);
  machine.setWall(by);
  expect(machine.error()).toBe(0);
  expect(clock.reason()).toContain('has jumped');
  await clock.measure();
  expect(machine.error()).toBe(0);
  expect(clock.state()).toBe('wrong');
  expect(clock.reason()).toBe(
    `the clock of this machine is 3600 s ${by > 0 ? 'ahead of' : 'behind'} the database's: set it right`,
  );
  machine.setWall(0);
  expect(clock.reason()).toContain('has jumped');
  await clock.measure();
  expect([machine.error(), clock.reason(), clock.state()]).toEqual([0, null, 'ok']);
});

test('a suspended machine writes once it has measured again, which it does at once', async () => {
  const machine = createMachine();
  const { clock } = machine;
  await clock.measure();
  machine.suspend(10 * MINUTE);
  expect(machine.error()).toBe(-10 * MINUTE);
  expect(clock.reason()).toContain('was suspended');
  // The measurement that this has started.
  await clock.measure();
  expect([machine.error(), clock.reason()]).toEqual([0, null]);
});

test('a response during which the machine was suspended is ignored', async () => {
  const machine = createMachine();
  const { clock } = machine;
  await clock.measure();
  machine.answer({ onWay: () => machine.suspend(HOUR) });
  await clock.measure();
  expect(machine.error()).toBe(-HOUR);
  expect(clock.state()).toBe('unavailable');
  machine.answer({});
  // The one that this has requested was in flight already.
  await clock.measure();
  await clock.measure();
  expect([machine.error(), clock.reason()]).toEqual([0, null]);
});

test('a response that takes too long is ignored', async () => {
  const machine = createMachine();
  const { clock } = machine;
  machine.answer({ takes: [0, 6 * SECOND] });
  await clock.measure();
  expect(clock.reason()).toBe('the database has not told its time yet');
  machine.answer({});
  await clock.measure();
  expect([machine.error(), clock.reason()]).toEqual([0, null]);
  machine.setDatabase(10 * SECOND);
  machine.answer({ takes: [0, 6 * SECOND] });
  await clock.measure();
  expect(machine.error()).toBe(-10 * SECOND);
});

test('a response that agrees with the previous one does not move the clock', async () => {
  const machine = createMachine();
  await machine.clock.measure();
  machine.answer({ takes: [100, 1_900] });
  await machine.clock.measure();
  expect(machine.error()).toBe(0);
  machine.setDatabase(10 * SECOND);
  await machine.clock.measure();
  expect(machine.error()).toBe(-1_900);
});

test('the last response is valid for a minute while the database is unavailable', async () => {
  const machine = createMachine();
  const { clock } = machine;
  await clock.measure();
  machine.answer({ isAway: true });
  machine.pass(MINUTE);
  await expect(clock.measure()).rejects.toThrow('away');
  expect([machine.error(), clock.reason()]).toEqual([0, null]);
  machine.pass(1);
  expect(clock.reason()).toBe('the database has not told its time for a minute');
  expect(clock.state()).toBe('unavailable');
});

test('it follows a database whose clock is changed, or another database; if far off, nothing is written', async () => {
  const machine = createMachine();
  const { clock } = machine;
  await clock.measure();
  for (const ahead of [-10 * SECOND, 25 * SECOND]) {
    machine.setDatabase(ahead);
    await clock.measure();
    expect([machine.error(), clock.reason()]).toEqual([0, null]);
  }
  machine.setDatabase(HOUR);
  await clock.measure();
  expect(machine.error()).toBe(0);
  expect(clock.state()).toBe('wrong');
});

describe.each([
  ['ahead', 1],
  ['behind', -1],
])('a clock that is %s', (_where, sign) => {
  test('is reported once, and so is the end of it', async () => {
    const machine = createMachine();
    const levels: (string | undefined)[] = [];
    for (const seconds of [1.5, 5, 6, 200, 201, 0]) {
      machine.setWall(sign * seconds * SECOND);
      await machine.clock.measure();
      levels.push(machine.lines.splice(0).join());
    }
    expect(levels).toEqual([
      '',
      'warn the clock differs from that of the database',
      '',
      'error the clock is too far from that of the database: nothing is written',
      '',
      'info the clock agrees with that of the database again',
    ]);
  });

  test('differs by less than a response may have taken', async () => {
    const machine = createMachine(sign * 3 * SECOND);
    machine.answer({ takes: [500, 500] });
    await machine.clock.measure();
    expect(machine.clock.offsetSeconds()).toBeCloseTo(sign * 2.5, 6);
    expect(machine.clock.state()).toBe('ok');
  });
});

test('a caller during a measurement shares its result', async () => {
  let asked = 0;
  const ask = async () => Date.now() + asked++;
  const clock = createDatabaseClock({ ask, log: null });
  await Promise.all([clock.measure(), clock.measure()]);
  expect(asked).toBe(1);
});

const upTo = (ms: number) => fc.integer({ min: 0, max: ms });
const around = (ms: number) => fc.integer({ min: -ms, max: ms });
const step = fc.oneof(
  fc.record({ kind: fc.constant('pass' as const), ms: upTo(40 * SECOND) }),
  fc.record({ kind: fc.constant('suspend' as const), ms: upTo(HOUR) }),
  fc.record({ kind: fc.constant('wall' as const), ms: around(HOUR) }),
  fc.record({ kind: fc.constant('wall' as const), ms: around(20 * SECOND) }),
  fc.record({ kind: fc.constant('database' as const), ms: around(HOUR) }),
  fc.record({
    kind: fc.constant('ask' as const),
    takes: fc.tuple(upTo(3 * SECOND), upTo(3 * SECOND)),
    isAway: fc.boolean(),
  }),
);

test('whatever the clocks did before, a response sets the clock to the database’s time', async () => {
  await fc.assert(
    fc.asyncProperty(
      around(HOUR),
      fc.array(step, { maxLength: 12 }),
      upTo(MINUTE),
      async (ahead, steps, later) => {
        const machine = createMachine(ahead);
        const { clock } = machine;
        for (const each of steps) {
          if (each.kind === 'pass') machine.pass(each.ms);
          if (each.kind === 'suspend') machine.suspend(each.ms);
          if (each.kind === 'database') machine.setDatabase(each.ms);
          if (each.kind === 'wall') {
            const before = clock.offsetSeconds() === undefined ? undefined : clock.now();
            machine.setWall(each.ms);
            if (before !== undefined) expect(clock.now()).toBe(before);
          }
          if (each.kind !== 'ask') continue;
          const [there, back] = each.takes;
          machine.answer(each);
          // The first one may be in flight already.
          await clock.measure().catch(() => undefined);
          await clock.measure().catch(() => undefined);
          if (each.isAway || there + back > 4 * SECOND) continue;
          expect(Math.abs(machine.error())).toBeLessThanOrEqual(4 * SECOND);
        }
        machine.answer({ takes: [5, 5] });
        await clock.measure().catch(() => undefined);
        await clock.measure();
        machine.pass(later);
        expect(Math.abs(machine.error())).toBeLessThanOrEqual(10);
        const isFar = Math.abs(clock.offsetSeconds() ?? 0) > 30;
        expect(clock.state()).toBe(isFar ? 'wrong' : 'ok');
      },
    ),
    { numRuns: runs(600) },
  );
});
