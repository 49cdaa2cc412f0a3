import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { VoidRun } from './measure.ts';
import { findWrk } from './required-programs.ts';
import type { Resources } from './resources.ts';
import { type ResponseKind, type Traffic, writeRequests } from './signed-requests.ts';

export interface LoadPlan {
  readonly port: number;
  readonly traffic: Traffic;
  /** Connections, each of which waits for a response before it sends the next request. */
  readonly connections: number;
  readonly seconds: number;
  /** The most requests that may be needed. */
  readonly supply: number;
  /** Requests offered per second; by default as many as get a response. */
  readonly rate?: number;
  /** Whether 503 with Retry-After counts as shed instead of as wrong. */
  readonly mayShed?: boolean;
  /**
   * Length of the windows whose latencies are recorded, in seconds; by default none are. Excludes
   * `mayShed`, since wrk cannot tell which request was refused, and `exact`.
   */
  readonly windowSeconds?: number;
  /** Gives each connection its own thread, so that every response is matched with its request. */
  readonly exact?: boolean;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Responses by kind. */
  readonly payments: number;
  readonly lists: number;
  readonly created: number;
  readonly shed: number;
  /** Whether the signed requests ran out, which ended the load early. */
  readonly exhausted: boolean;
  /** Latencies of each kind of response in each whole window. */
  readonly windows: readonly WindowLatencies[];
}

/** Milliseconds from when a request was due, sent or not, until its response. */
interface WindowLatencies {
  readonly kind: ResponseKind;
  readonly p50: number;
  readonly p99: number;
}

/** The longest wait for a response, in seconds: only a bug takes that long. */
const PATIENCE_SECONDS = 60;
/** How long wrk may run beyond its plan, in milliseconds. */
const OVERTIME_MS = (PATIENCE_SECONDS + 30) * 1000;

type LoadContext = Pick<Resources, 'memory' | 'signal' | 'defer'>;

/**
 * Signs requests and sends them with wrk.
 * @throws VoidRun when a response was wrong or a connection broke.
 */
export async function runLoad(plan: LoadPlan, context: LoadContext): Promise<LoadResult> {
  const send = await prepareLoad(plan, context);
  return send();
}

/**
 * Signs requests ahead of the measurement, so that signing does not disturb it.
 * @returns A function that sends them with wrk, to be called once; it throws as runLoad does.
 */
export async function prepareLoad(
  plan: LoadPlan,
  { memory, signal, defer }: LoadContext,
): Promise<() => Promise<LoadResult>> {
  if (plan.windowSeconds !== undefined && (plan.mayShed || plan.exact)) {
    throw new Error('windowSeconds excludes mayShed and exact');
  }
  const threads = plan.exact ? plan.connections : 1;
  const prefix = join(memory, `requests-${randomUUID()}`);
  const files = Array.from({ length: threads }, (_, index) => `${prefix}.${index}`);
  const from = Date.now();
  const supply = {
    traffic: plan.traffic,
    count: Math.ceil(plan.supply / threads),
    from,
    to: from + plan.seconds * 1000,
  };
  for (const file of files) {
    signal.throwIfAborted();
    await writeRequests(file, supply);
  }
  return async () => {
    try {
      return await runWrk(plan, threads, prefix, { signal, defer });
    } finally {
      for (const file of files) await rm(file, { force: true });
    }
  };
}

async function runWrk(
  plan: LoadPlan,
  threads: number,
  prefix: string,
  { signal, defer }: Pick<LoadContext, 'signal' | 'defer'>,
): Promise<LoadResult> {
  const limit = AbortSignal.timeout(plan.seconds * 1000 + OVERTIME_MS);
  const wrk = spawn(
    findWrk(),
    [
      ...['-t', String(threads), '-c', String(plan.connections), '-d', `${plan.seconds}s`],
      ...['--timeout', `${PATIENCE_SECONDS}s`, '-s', join(import.meta.dirname, 'load.lua')],
      `http://127.0.0.1:${plan.port}`,
      '--',
      ...[prefix, String(plan.rate ?? 0), plan.mayShed ? 'shed' : '', plan.exact ? 'exact' : ''],
      String((plan.windowSeconds ?? 0) * 1000),
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      signal: AbortSignal.any([signal, limit]),
      killSignal: 'SIGKILL',
    },
  );
  // If the bench fails meanwhile, wrk would run for minutes more.
  defer(() => wrk.kill('SIGKILL'));
  const [output, [status]] = await Promise.all([text(wrk.stdout), once(wrk, 'exit')]);
  const line = output.split('\n').findLast(candidate => candidate.startsWith('{'));
  if (status !== 0 || line === undefined) throw new Error(`wrk failed: ${output}`);
  const { microseconds, wrong, broken, exhausted, sample, windows, ...counts } = JSON.parse(line);
  if (wrong > 0) throw new VoidRun(`${wrong} wrong responses of ${counts.requests}: ${sample}`);
  if (broken > 0) throw new VoidRun(`${broken} connections broke or waited too long`);
  return {
    ...counts,
    seconds: microseconds / 1e6,
    exhausted: exhausted > 0,
    windows: windows.map(([kind, p50, p99]: [ResponseKind, number, number]) => ({
      kind,
      p50: p50 / 1000,
      p99: p99 / 1000,
    })),
  };
}
