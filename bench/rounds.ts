import { type LoadPlan, type LoadResult, runLoad } from './load.ts';
import { type Finding, median, medianRatio, VoidRun } from './measure.ts';
import type { Resources } from './resources.ts';
import { CONNECTIONS, ROUNDS, SECONDS } from './settings.ts';
import type { Traffic } from './signed-requests.ts';

/** Something whose throughput is measured in interleaved rounds with that of others. */
export interface Contender {
  readonly name: string;
  warmUp(): Promise<void>;
  /** Works for a round and returns its throughput per second. */
  round(): Promise<number>;
}

interface HttpContender {
  readonly name: string;
  readonly port: number;
  readonly traffic: Traffic;
  readonly connections?: number;
  /** Called with each result, including that of the warm-up. */
  readonly onResult?: (result: LoadResult) => void;
}

/** Connections of a warm-up, each with its own thread in the load generator. */
const EXACT_CONNECTIONS = 16;
/** Requests per second that are signed for the first warm-up. */
const FIRST_SUPPLY = 10_000;
/** Requests signed for a round, as a multiple of the most that one has needed so far. */
const SPARE = 2;
/** How often a load that ran out of requests is repeated with twice as many. */
const ATTEMPTS = 5;

/**
 * A server that responds to signed requests as fast as it can. The warm-up matches each response with its
 * own request; rounds match it with any request that is waiting for a response.
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

  /** Repeats a load that ran out of requests with more of them. */
  async function supplied(plan: Pick<LoadPlan, 'connections' | 'exact'>): Promise<LoadResult> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const result = await load(plan);
      if (!result.exhausted) return result;
      fastest *= 2;
    }
    throw new VoidRun(`${name}: too few signed requests`);
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

/** An `httpContender` that remembers the most requests per second of any of its loads. */
export function peakContender(
  resources: Resources,
  contender: Omit<HttpContender, 'onResult'>,
): Contender & { readonly highest: () => number } {
  let highest = 0;
  const onResult = ({ requests, seconds }: LoadResult) => {
    highest = Math.max(highest, requests / seconds);
  };
  return { ...httpContender(resources, { ...contender, onResult }), highest: () => highest };
}

/** Throughput per second of each contender by name, with one value per round. */
export type Throughput = ReadonlyMap<string, readonly number[]>;

/**
 * Runs contenders in interleaved rounds, reversing their order each time, so that other load on the
 * machine and leftovers of the previous contender affect all of them alike.
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

/** The throughput of one contender as a ratio of another's, with the least it should be. */
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
    value: medianRatio(values, against),
    goal: goal === null ? null : { relation: '>=', value: goal },
  };
}
