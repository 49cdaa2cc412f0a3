import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { COMPILE_CACHE } from '../helpers/compile-cache.ts';

const MODULE = pathToFileURL(join(import.meta.dirname, '../../src/telemetry/logger.ts')).href;
const NOTE = 'Zoë ☕ 🦊';

/**
 * The log lines of a process with `log`, `write(n)`, which logs `n` more numbered lines, and `seen`, which
 * resolves once a line containing `until` has been output.
 * @param then What happens to the process at that moment.
 */
async function linesOf(
  script: string,
  until = '',
  then = (child: ChildProcess): unknown => child.stdin?.end(),
): Promise<Record<string, unknown>[]> {
  const prelude = `
    import { once } from 'node:events';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { createLogger, standardOutput } from '${MODULE}';
    const log = createLogger({ logLevel: 'info' }, 'test', standardOutput());
    let number = 0;
    const write = count => {
      for (let n = 0; n < count; n++) log.info({ number: number++, note: '${NOTE}' }, 'numbered');
    };
    const seen = () => once(process.stdin.resume(), 'end');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', prelude + script], {
    env: { ...process.env, ...COMPILE_CACHE },
  });
  const watch = async () => {
    let output = '';
    let isOver = until === '';
    for await (const part of child.stdout.setEncoding('utf8')) {
      output += part;
      if (isOver || !output.includes(until)) continue;
      isOver = true;
      then(child);
    }
    return output;
  };
  const [output, errors] = await Promise.all([watch(), text(child.stderr), once(child, 'close')]);
  if (!output.endsWith('\n')) throw new Error(`no whole lines, but ${output}${errors}`);
  return output
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
}

/** The numbers of the numbered lines, in order, if they are otherwise intact. */
function numbersOf(lines: readonly Record<string, unknown>[]) {
  const numbered = lines.filter(({ msg }) => msg === 'numbered');
  expect(new Set(numbered.map(({ note }) => note))).toEqual(new Set([NOTE]));
  return numbered.map(({ number }) => number);
}

const upTo = (count: number) => Array.from({ length: count }, (_, number) => number);

// Each waits for a process of its own, mostly for its timers.
test.concurrent('every line is written, once and in order', async () => {
  const lines = await linesOf('write(1_000); await sleep(20); write(1_000);');
  expect(numbersOf(lines)).toEqual(upTo(2_000));
});

test.concurrent.for([
  { when: 'the process exits', end: 'process.exit(0);' },
  { when: 'an error ends the process', end: "throw new Error('lost');" },
  {
    when: 'it is killed after a fatal line',
    end: "log.fatal('lost'); process.kill(process.pid, 'SIGKILL');",
  },
])('buffered lines are written when $when', async ({ end }) => {
  // Earlier lines are written by then; some 10 KB are buffered.
  const script = `write(1_000); await seen(); await sleep(100); write(60); ${end}`;
  const lines = await linesOf(script, '"number":999,');
  expect(numbersOf(lines)).toEqual(upTo(1_060));
});

test.concurrent('an idle process writes nothing', async () => {
  const script = `
    import fs from 'node:fs';
    let writes = 0;
    const original = fs.write;
    fs.write = (...given) => {
      writes += 1;
      return original(...given);
    };
    write(1);
    await seen();
    await sleep(1_000);
    log.info({ writes }, 'counted');`;
  const lines = await linesOf(script, '"number":0,');
  expect(lines.at(-1)).toMatchObject({ writes: 1, msg: 'counted' });
});

test.concurrent('a single line is written all the same', async () => {
  const kill = (child: ChildProcess) => child.kill('SIGKILL');
  const lines = await linesOf(
    'write(1); setInterval(() => undefined, 1_000);',
    '"number":0,',
    kill,
  );
  expect(numbersOf(lines)).toEqual([0]);
});

test.concurrent('a line has the time at which it was logged', async () => {
  const started = Date.now();
  const lines = await linesOf('write(100); await sleep(20); write(1);');
  const times = lines.map(({ time }) => Date.parse(String(time)));
  expect(lines[0]?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(times[0]).toBeGreaterThanOrEqual(started);
  expect(times.at(-1)).toBeLessThanOrEqual(Date.now());
  // Timers may be a millisecond early.
  expect((times[100] ?? 0) - (times[99] ?? 0)).toBeGreaterThanOrEqual(19);
});
