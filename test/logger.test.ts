import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const LINES = 2_000;
const MODULE = pathToFileURL(join(import.meta.dirname, '../src/logger.ts')).href;

/** What a process writes that logs many lines and then does as `end` says. */
async function linesUntil(end: string): Promise<Record<string, unknown>[]> {
  const script = `
    import { createLogger, standardOutput } from '${MODULE}';
    const log = createLogger({ logLevel: 'info' }, 'test', standardOutput());
    const write = from => {
      for (let n = from; n < from + ${LINES / 2}; n++) log.info({ n, shop: 'Zoë ☕ 🦊' }, 'line');
    };
    write(0);
    await new Promise(resolve => setTimeout(resolve, 20));
    write(${LINES / 2});
    ${end}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return output
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
}

test.for([
  { when: 'it has nothing left to do', end: '' },
  { when: 'it exits', end: 'process.exit(0);' },
  { when: 'an error ends it', end: "throw new Error('lost');" },
  {
    when: 'it is killed after a fatal one',
    end: "log.fatal('lost'); process.kill(process.pid, 'SIGKILL');",
  },
])('every line is written, once and in order, when $when', async ({ end }) => {
  const lines = await linesUntil(end);
  const numbers = lines.filter(({ msg }) => msg === 'line').map(({ n }) => n);
  expect(numbers).toEqual(Array.from({ length: LINES }, (_, n) => n));
  expect(lines.every(({ msg, shop }) => msg !== 'line' || shop === 'Zoë ☕ 🦊')).toBe(true);
});

test('a line that waits for others is written within a second', async () => {
  const lines = await linesUntil(`
    log.info('last');
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1_000);`);
  expect(lines.at(-1)).toMatchObject({ level: 'info', msg: 'last' });
});

test('a line tells when it was written', async () => {
  const started = Date.now();
  const lines = await linesUntil('');
  const times = lines.map(({ time }) => Date.parse(String(time)));
  expect(lines[0]?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(times[0]).toBeGreaterThanOrEqual(started);
  expect(times.at(-1)).toBeLessThanOrEqual(Date.now());
  // The second half is logged 20 ms after the first; timers may be a millisecond early.
  expect((times[LINES / 2] ?? 0) - (times[LINES / 2 - 1] ?? 0)).toBeGreaterThanOrEqual(19);
});
