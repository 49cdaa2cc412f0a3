import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Terminal } from '../terminal.ts';

/** The environment, standard streams and signals of this process. */
export function processTerminal(): Terminal {
  // A reader that stops early, as in `mp … | head`, is not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return {
    env: process.env,
    out: text => process.stdout.write(text),
    isRead: () => !process.stdout.destroyed,
    untilInterrupted() {
      const controller = new AbortController();
      // Once, so that a second Ctrl-C ends the process at once.
      for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => controller.abort());
      return controller.signal;
    },
    err: text => process.stderr.write(text),
    progressWidth: process.stderr.isTTY ? process.stderr.columns || 80 : undefined,
    isOutShown: process.stdout.isTTY === true,
    ask: process.stdin.isTTY ? askPerson : readLine,
  };
}

/** Asks on standard error: standard output is for results only. */
function askPerson(question: string, isSecret: boolean): Promise<string | undefined> {
  process.stderr.write(question);
  // Discards what readline would echo.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = isSecret ? nowhere : process.stderr;
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  return new Promise(resolve => {
    reader.once('line', line => {
      resolve(line);
      reader.close();
    });
    // Closed by Ctrl-C or Ctrl-D.
    reader.once('close', () => {
      if (isSecret) process.stderr.write('\n');
      resolve(undefined);
    });
  });
}

let lines: AsyncIterator<string> | undefined;

/** The next line of a pipe or file. */
async function readLine(): Promise<string | undefined> {
  const { stdin } = process;
  lines ??= createInterface({ input: stdin })[Symbol.asyncIterator]();
  // A pipe keeps the process alive only while a line is awaited: its writer may leave it open. A file has no `ref`.
  stdin.ref?.();
  const { done, value } = await lines.next();
  stdin.unref?.();
  return done ? undefined : value;
}
