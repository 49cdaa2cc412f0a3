import { expect, test } from 'vitest';
import { type Report, withProgress } from '#cli/progress.ts';

const WIDTH = 40;

/** Shows the progress of `work`, whose clock it moves. Returns what was written to standard error. */
async function shown(
  work: (report: Report, pass: (ms: number) => void) => Promise<unknown>,
): Promise<string[]> {
  const written: string[] = [];
  let now = 1_000_000;
  const pass = (ms: number) => {
    now += ms;
  };
  const terminal = {
    env: {},
    out: () => undefined,
    err: (text: string) => written.push(text),
    progressWidth: WIDTH,
  };
  await withProgress(
    terminal,
    'mp test',
    report => work(report, pass),
    () => now,
  ).catch(() => undefined);
  return written;
}

test('one line is rewritten with what is done, and gone at the end', async () => {
  const written = await shown(async (report, pass) => {
    report(0, 10, 'first');
    pass(1_000);
    report(1, 10, 'second');
    pass(60_000);
    report(2, 10);
    pass(3_600_000);
    report(3, 10);
  });
  expect(written).toEqual([
    '\rmp test: second, 1 of 10, 9 s left',
    '\rmp test: 2 of 10, 4 min left'.padEnd(35),
    '\rmp test: 3 of 10, 2 h 22 min left',
    `\r${' '.repeat(33)}\r`,
  ]);
});

test('work that begins anew is estimated by its own time', async () => {
  const written = await shown(async (report, pass) => {
    pass(1_000_000);
    report(9, 10);
    report(0, 4);
    pass(2_000);
    report(2, 4);
  });
  expect(written.at(-2)?.trimEnd()).toBe('\rmp test: 2 of 4, 2 s left');
});

test('without a total it says how long it has taken', async () => {
  const written = await shown(async (report, pass) => {
    pass(2_000);
    report(3_000);
  });
  expect(written[0]).toBe('\rmp test: 3000, 2 s');
});

test('it is rewritten five times a second at most, and cut to the width of the terminal', async () => {
  const written = await shown(async (report, pass) => {
    for (let done = 0; done < 1_000; done++) {
      pass(10);
      report(done, 1_000, 'a name that is longer than the terminal is wide');
    }
  });
  expect(written.length).toBeGreaterThan(40);
  expect(written.length).toBeLessThanOrEqual(10 * 5 + 1);
  for (const text of written) expect(text.replaceAll('\r', '').length).toBeLessThan(WIDTH);
});

test('it is gone after a failure, too', async () => {
  const written = await shown(async (report, pass) => {
    pass(1_000);
    report(1, 2);
    throw new Error('no');
  });
  expect(written.at(-1)).toMatch(/^\r +\r$/);
});

test('nothing is written of short work, and nothing at all without a terminal', async () => {
  const long = async (report: Report, pass: (ms: number) => void) => {
    pass(5_000);
    report(1, 2);
  };
  expect(await shown(async report => report(1, 2))).toEqual([]);
  expect(await shown(long)).not.toEqual([]);
  let written = '';
  const err = (text: string) => {
    written += text;
  };
  await withProgress({ env: {}, out: err, err }, 'mp test', report =>
    long(report, () => undefined),
  );
  expect(written).toBe('');
});
