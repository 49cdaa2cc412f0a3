import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { CommandFailed, type Terminal } from '../terminal.ts';
import type { Document } from './conformance-judge.ts';

/** Timeout of a command for one example, in milliseconds; most start in a fraction of a second. */
const TIMEOUT_MS = 10_000;
/** Maximum characters that a command may print: many times the size of any answer. */
const OUTPUT_MAXIMUM = 1_000_000;
const INTERRUPTED = 'Interrupted.';
/** Maximum characters of a command's output that are shown. */
const EXCERPT = 300;

/** What a command printed: a JSON object, or why it is not one. */
export type Answer =
  | { readonly document: Document; readonly problem?: undefined }
  | { readonly problem: readonly string[]; readonly document?: undefined };

export interface Running {
  readonly env: Terminal['env'];
  /** Ends the command. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
}

/**
 * Runs a command in the shell, with a JSON document on its standard input.
 * @throws CommandFailed when it is interrupted, times out or prints without end: the other examples would fail too.
 */
export async function answerOf(command: string, given: object, running: Running): Promise<Answer> {
  const { status, out, err } = await runCommand(command, JSON.stringify(given), running);
  if (status !== 0) {
    return { problem: [`The command ended with ${status}. ${excerptOf(err)}`.trimEnd()] };
  }
  const document = parseObject(out);
  if (document !== undefined) return { document };
  return { problem: [`The command printed no JSON object: ${excerptOf(out) || 'nothing'}`] };
}

async function runCommand(
  command: string,
  input: string,
  { env, signal, timeoutMs = TIMEOUT_MS }: Running,
) {
  if (signal?.aborted) throw new CommandFailed(INTERRUPTED);
  // In a process group of its own, so that whatever the shell has started ends with it.
  const child = spawn(command, { shell: true, detached: true, env });
  const ended = new Promise<string | number>((done, fail) => {
    child.on('error', fail);
    child.on('close', (code, killed) => done(code ?? killed ?? 'no status'));
  });
  // A command may end without reading its input: it is judged by what it prints.
  child.stdin.on('error', () => undefined).end(`${input}\n`);
  let failure: CommandFailed | undefined;
  const stop = (why: string) => {
    failure ??= new CommandFailed(why);
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The group has ended. A process that left it may still hold the output open.
    }
    child.stdout.destroy();
    child.stderr.destroy();
  };
  const read = async (stream: Readable) => {
    let printed = '';
    for await (const chunk of stream.setEncoding('utf8')) {
      printed += chunk;
      if (printed.length > OUTPUT_MAXIMUM) stop('The command prints without an end.');
    }
    return printed;
  };
  const late = `The command did not end within ${timeoutMs / 1000} seconds.`;
  const timer = setTimeout(stop, timeoutMs, late);
  const interrupt = () => stop(INTERRUPTED);
  signal?.addEventListener('abort', interrupt);
  try {
    const [status, out, err] = await Promise.all([ended, read(child.stdout), read(child.stderr)]);
    if (failure !== undefined) throw failure;
    return { status, out, err };
  } catch (error) {
    throw failure ?? error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', interrupt);
  }
}

function parseObject(out: string): Document | undefined {
  try {
    const value: unknown = JSON.parse(out);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Document) : undefined;
  } catch {
    return undefined;
  }
}

/** Most programs print the reason of a failure last. */
function excerptOf(printed: string): string {
  return printed.trim().slice(-EXCERPT);
}
