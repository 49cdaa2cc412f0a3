import { startBareWithSelect } from './baselines.ts';
import { createDatabase, DURABLE, startPostgres } from './databases.ts';
import { type LoadResult, prepareLoad } from './load.ts';
import { type Finding, median, VoidRun } from './measure.ts';
import { COLLECTS_ON_SIGNAL, type Memory, measureMemory } from './memory.ts';
import { addMerchants, type BenchMerchants } from './merchants.ts';
import { overload } from './overload.ts';
import { type ServerProcess, startRedis, startService } from './processes.ts';
import { requirePrograms } from './required-programs.ts';
import type { Resources } from './resources.ts';
import { httpContender } from './rounds.ts';
import { CONNECTIONS, SOAK_SECONDS } from './settings.ts';
import type { AnswerKind, Traffic } from './signed-requests.ts';
import { gets, MIXTURE, mixture } from './traffic.ts';

/** The run is divided into legs, of which a minute at most counts. */
const LEGS = Math.ceil(SOAK_SECONDS / 60);
const LEG_SECONDS = Math.ceil(SOAK_SECONDS / LEGS);
/**
 * Latencies are told for windows of so many seconds, of which the middle one counts. The first of a leg
 * is left out: while requests were signed the server had nothing to do, and it takes seconds to be again
 * what it is under load.
 */
const WINDOW_SECONDS = Math.min(10, Math.ceil(LEG_SECONDS / 3));
/** What a load stays clear of running out of signed requests by. */
const SPARE = 1.1;
/** Memory is measured after so many of the first and of the last legs: it disturbs what comes next. */
const MEASURED_LEGS = 3;

/** A server, and what is asked of it when it runs at half of what it can do. */
interface Plan {
  readonly name: string;
  readonly server: ServerProcess;
  readonly traffic: Traffic;
  /** How long it runs in each leg once it is warm, in seconds. */
  readonly seconds: number;
  /** Told apart: together, p50 would be of reads and p99 of creates. */
  readonly kinds: readonly { readonly name: string; readonly kind: AnswerKind }[];
  /** Most that p99 may be of p50; null for what is only told. */
  readonly goal: number | null;
}

/** What a server did in one leg. */
interface Leg extends Pick<LoadResult, 'windows'> {
  /** Requests a second, of all kinds. */
  readonly rate: number;
}

/** Runs the service at half of what it can do for long, and then at three times as much. */
export async function bench(resources: Resources): Promise<Finding[]> {
  requirePrograms();
  const redisUrl = await startRedis(resources);
  const server = await startPostgres(resources, DURABLE);
  const { db, url: databaseUrl } = await createDatabase(resources, server, 'soak');
  const { merchants, masterKey } = await addMerchants(db);
  const state = { databaseUrl, masterKey, redisUrl };
  const service = await startService(resources, 'service', state, COLLECTS_ON_SIGNAL);
  const control = await startBareWithSelect(resources, databaseUrl, merchants, {
    heapOfService: true,
  });
  return [
    ...(await soak(resources, merchants, { service, control })),
    ...(await overload(resources, { merchants, service })),
  ];
}

/**
 * Lets the service run at half of its saturation, which is measured anew for each leg: a machine that
 * is shared may do twice as much in one minute as in the next. Bare Fastify, with its heap set up as the
 * service's, runs at half of its own in between, and tells what the machine does to anyone who reads.
 *
 * It comes first: in a whole run the service then waits for its first load for as long as it takes
 * V8 to get wrong what lives on (src/heap.ts).
 */
async function soak(
  resources: Resources,
  merchants: BenchMerchants['merchants'],
  { service, control }: { readonly service: ServerProcess; readonly control: ServerProcess },
): Promise<Finding[]> {
  const served: Plan = {
    name: 'service',
    server: service,
    traffic: mixture(merchants),
    seconds: LEG_SECONDS,
    kinds: MIXTURE,
    goal: 4,
  };
  const bare: Plan = {
    name: 'bare Fastify',
    server: control,
    traffic: gets(merchants),
    seconds: 2 * WINDOW_SECONDS,
    kinds: [{ name: 'bare Fastify with a SELECT', kind: 'G' }],
    goal: null,
  };
  const compare = await preparedToRun(resources, bare);
  const bareLegs = [await compare()];
  const serve = await preparedToRun(resources, served);
  const legs: Leg[] = [];
  const memory: Memory[] = [];
  for (let leg = 1; leg <= LEGS; leg++) {
    legs.push(await serve());
    if (leg <= MEASURED_LEGS || leg > LEGS - MEASURED_LEGS) {
      memory.push(await measureMemory(service.pid));
    }
    bareLegs.push(await compare());
  }
  return [...latencies(served, legs), ...latencies(bare, bareLegs), memoryOver(memory)];
}

/** Warms a server up and returns what runs it for a leg. */
async function preparedToRun(resources: Resources, plan: Plan): Promise<() => Promise<Leg>> {
  const { name, server, traffic } = plan;
  const { port } = server;
  // The first window does not count, and each is over with the first answer after it.
  const seconds = WINDOW_SECONDS + plan.seconds + 1;
  const saturated = httpContender(resources, { name, port, traffic });
  await saturated.warmUp();
  return async () => {
    const saturation = await saturated.round();
    const rate = saturation / 2;
    process.stdout.write(`${name}: ${rate.toFixed(0)}/s are half of what it can do\n`);
    const supply = rate * seconds * SPARE + CONNECTIONS;
    const load = { port, traffic, rate, supply, seconds, windowSeconds: WINDOW_SECONDS };
    const send = await prepareLoad({ ...load, connections: CONNECTIONS }, resources);
    const result = await send();
    if (result.exhausted) throw new VoidRun(`${name}: there were not enough signed requests`);
    return { rate: result.requests / result.seconds, windows: result.windows };
  };
}

function latencies({ name: server, kinds, goal }: Plan, legs: readonly Leg[]): Finding[] {
  const rates = legs.map(({ rate }) => rate);
  const between = `${Math.min(...rates).toFixed(0)} to ${Math.max(...rates).toFixed(0)}/s`;
  return kinds.map(({ name, kind }) => {
    const windows = legs.flatMap(leg =>
      leg.windows.filter(window => window.kind === kind).slice(1),
    );
    if (windows.length === 0) throw new VoidRun(`${server}: a leg is too short for ${name}`);
    const ratios = windows.map(({ p50, p99 }) => p99 / p50);
    const middle = (which: 'p50' | 'p99') =>
      median(windows.map(window => window[which])).toFixed(1);
    return {
      subject: `${name}, all at ${between}: p99 against p50, middle of ${windows.length} settled windows`,
      measured:
        `p50 ${middle('p50')} ms, p99 ${middle('p99')} ms; ` +
        `best ${Math.min(...ratios).toFixed(1)}, worst ${Math.max(...ratios).toFixed(1)}`,
      ratio: median(ratios),
      goal: goal === null ? null : { relation: '<=', value: goal },
    };
  });
}

/** What is kept after the last legs against the first ones: in a short run those of each half. */
function memoryOver(samples: readonly Memory[]): Finding {
  const compared = Math.min(MEASURED_LEGS, Math.max(1, Math.floor(samples.length / 2)));
  const middle = (some: readonly Memory[]) =>
    median(some.map(({ withoutGarbage }) => withoutGarbage));
  const early = middle(samples.slice(0, compared));
  const late = middle(samples.slice(-compared));
  const highest = Math.max(...samples.map(({ withGarbage }) => withGarbage));
  return {
    subject: `memory without garbage, after the last ${compared} of ${LEGS} legs against the first`,
    measured: `${late.toFixed(0)} MiB, ${early.toFixed(0)} MiB; ${highest.toFixed(0)} MiB with garbage`,
    ratio: late / early,
    // A single leg is held against itself.
    goal: LEGS > 1 ? { relation: '<=', value: 1.1 } : null,
  };
}
