#!/usr/bin/env node
import { run } from './cli/run.ts';

// A reader that has seen enough, as in `mp … | head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await run(process.argv.slice(2), {
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
});
