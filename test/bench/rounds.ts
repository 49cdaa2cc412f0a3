import { type LoadPlan, type LoadResult, runLoad } from './load.ts';
import { type Finding, median, medianRatio, VoidRun } from './measure.ts';
import type { Resources } from './resources.ts';
import { CONNECTIONS, ROUNDS, SECONDS } from './settings.ts';
import type { Traffic } from './signed-requests.ts';

/** Something whose throughput is measured in turns with that of others. */
export interface Contender {
  readonly name: string;
  warmUp(): Promise<void>;
  /** Works for a round and returns what it did a second. */
  round(): Promise<number>;
}

interface HttpContender {
  readonly name: string;
  readonly port: number;
  readonly traffic: Traffic;
  readonly connections?: number;
  /** Gets each result, the warm-up's included. */
  readonly onResult?: (result: LoadResult) => void;
}

/** Connections of a warm-up: each has a thread of its own in the load generator. */
const EXACT_CONNECTIONS = 16;
/** Requests a second that the first warm-up has at hand. */
const FIRST_SUPPLY = 10_000;
/** Requests at hand, as a multiple of the most that were needed so far: rounds differ. */
const SPARE = 2;
/** How often a load that ran out of requests is repeated with twice as many. */
const ATTEMPTS = 5;

/**
 * A server that answers signed requests as fast as it can. Its warm-up holds every answer against
 * its own request; rounds hold answers against the requests that wait for one.
 */
export function httpContender(resources: Resources, contender: HttpContender): Contender {
  const { name, port, traffic, connections = CONNECTIONS, onResult } = contender;
  let fastest = FIRST_SUPPLY;

  async function load(plan: Pick<LoadPlan, 'connections' | 'exact'>): Promise<LoadResult> {
    const supply = fastest * SPARE * SECONDS;
    const result = await runLoad({ port, traffic, seconds: SECONDS, supply, ...plan }, resources);
    fastest = Math.max(fastest, result.requests / SECONDS);
    onResult?.(result);
    return result;
  }

  /** A load that ran out of requests is void; it is repeated with more of them. */
  async function supplied(plan: Pick<LoadPlan, 'connections' | 'exact'>): Promise<LoadResult> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const result = await load(plan);
      if (!result.exhausted) return result;
      fastest *= 2;
    }
    throw new VoidRun(`${name}: there were never enough signed requests`);
  }

  return {
    name,
    warmUp: async () => void (await supplied({ connections: EXACT_CONNECTIONS, exact: true })),
    async round() {
      const { requests, seconds } = await supplied({ connections });
      return requests / seconds;
    },
  };
}

/** Throughput a second of each contender, by name and round. */
export type Throughput = ReadonlyMap<string, readonly number[]>;

/**
 * Lets contenders work in turns, each round the other way round, so that whatever else the machine
 * does, and whatever one leaves to the next, falls on all alike.
 */
export async function inTurns(
  contenders: readonly Contender[],
  rounds: number = ROUNDS,
): Promise<Throughput> {
  const throughput = new Map(contenders.map(({ name }) => [name, [] as number[]]));
  for (const contender of contenders) await contender.warmUp();
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? contenders : contenders.toReversed();
    for (const { name, round: work } of order) throughput.get(name)?.push(await work());
    const latest = contenders.map(({ name }) => {
      const value = throughput.get(name)?.at(-1) ?? Number.NaN;
      return `${name} ${value.toFixed(0)}`;
    });
    process.stdout.write(`round ${round + 1}, a second: ${latest.join(', ')}\n`);
  }
  return throughput;
}

/** How one contender did against another, which is to be at least `goal` unless that is null. */
export function compare(
  throughput: Throughput,
  subject: string,
  [name, base]: readonly [name: string, base: string],
  goal: number | null,
): Finding {
  const values = throughput.get(name) ?? [];
  const against = throughput.get(base) ?? [];
  return {
    subject,
    measured: `${median(values).toFixed(0)}/s, ${base} ${median(against).toFixed(0)}/s`,
    ratio: medianRatio(values, against),
    goal: goal === null ? null : { relation: '>=', value: goal },
  };
}
