import { startBareWithSelect } from './baselines.ts';
import { createDatabase, DURABLE, startPostgres } from './databases.ts';
import { idle } from './idle.ts';
import { type LoadResult, prepareLoad } from './load.ts';
import { type Finding, median, VoidRun } from './measure.ts';
import { COLLECTS_ON_SIGNAL, type Memory, measureMemory } from './memory.ts';
import { addMerchants, type BenchMerchants } from './merchants.ts';
import { overload, reconnects } from './overload.ts';
import { type ServerProcess, startRedis, startService } from './processes.ts';
import { requirePrograms } from './required-programs.ts';
import type { Resources } from './resources.ts';
import { httpContender } from './rounds.ts';
import { CONNECTIONS, SOAK_SECONDS } from './settings.ts';
import type { ResponseKind, Traffic } from './signed-requests.ts';
import { slowReaders } from './slow-readers.ts';
import { gets, MIXTURE, mixture } from './traffic.ts';

/** The run is divided into legs of a minute at most. */
const LEGS = Math.ceil(SOAK_SECONDS / 60);
const LEG_SECONDS = Math.ceil(SOAK_SECONDS / LEGS);
/**
 * Length of the windows whose latencies are compared, in seconds. The first window of each leg does not
 * count: the server was idle while requests were signed, and takes seconds to settle.
 */
const WINDOW_SECONDS = Math.min(10, Math.ceil(LEG_SECONDS / 3));
/** Signed requests, as a multiple of those needed at the planned rate. */
const SPARE = 1.1;
/** Memory is measured after this many of the first and of the last legs, since it disturbs the next. */
const MEASURED_LEGS = 3;

/** A server that runs at half of its saturation. */
interface Plan {
  readonly name: string;
  readonly server: ServerProcess;
  readonly traffic: Traffic;
  /** Length of the part of a leg that counts, in seconds. */
  readonly seconds: number;
  /** Compared separately: together, p50 would be that of reads and p99 that of creates. */
  readonly kinds: readonly { readonly name: string; readonly kind: ResponseKind }[];
  /** The most that p99 may be as a multiple of p50; null without a goal. */
  readonly goal: number | null;
}

interface Leg extends Pick<LoadResult, 'windows'> {
  /** Requests per second, of all kinds. */
  readonly rate: number;
}

/**
 * Measures the service while it is idle, at half of its saturation, at three times its peak, and with
 * clients that do not read.
 */
export async function bench(resources: Resources): Promise<Finding[]> {
  requirePrograms();
  const redisUrl = await startRedis(resources);
  const server = await startPostgres(resources, DURABLE);
  const { db, url: databaseUrl } = await createDatabase(resources, server, 'soak');
  const { merchants, masterKey } = await addMerchants(db);
  const state = { databaseUrl, masterKey, redisUrl };
  const cost = await idle(resources, state, db);
  const service = await startService(resources, 'service', state, {
    nodeArguments: COLLECTS_ON_SIGNAL,
  });
  const control = await startBareWithSelect(resources, databaseUrl, merchants);
  return [
    ...cost,
    ...(await soak(resources, merchants, { service, control })),
    ...(await overload(resources, { merchants, service })),
    ...(await reconnects(resources, { merchants, service })),
    ...(await slowReaders(resources, { db, merchants, service })),
  ];
}

/**
 * Runs the service at half of its saturation, which each leg measures again: a shared machine may do
 * twice as much in one minute as in the next. Before and after, bare Fastify runs at half of its own,
 * which shows what the machine does to the latencies of any server.
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
    goal: 5,
  };
  const bare: Plan = {
    name: 'bare Fastify',
    server: control,
    traffic: gets(merchants),
    seconds: 2 * WINDOW_SECONDS,
    kinds: [{ name: 'bare Fastify with a SELECT', kind: 'G' }],
    goal: null,
  };
  const runBare = await warmedUp(resources, bare);
  const bareLegs = [await runBare()];
  const runService = await warmedUp(resources, served);
  const legs: Leg[] = [];
  const memory: Memory[] = [];
  for (let leg = 1; leg <= LEGS; leg++) {
    legs.push(await runService());
    if (leg <= MEASURED_LEGS || leg > LEGS - MEASURED_LEGS) {
      memory.push(await measureMemory(service.pid));
    }
  }
  bareLegs.push(await runBare());
  return [...latencies(served, legs), ...latencies(bare, bareLegs), memoryOver(memory)];
}

/** Warms a server up and returns a function that runs a leg. */
async function warmedUp(resources: Resources, plan: Plan): Promise<() => Promise<Leg>> {
  const { name, server, traffic } = plan;
  const { port } = server;
  // A window closes with the first response after its end.
  const seconds = WINDOW_SECONDS + plan.seconds + 1;
  const saturated = httpContender(resources, { name, port, traffic });
  await saturated.warmUp();
  return async () => {
    const saturation = await saturated.round();
    const rate = saturation / 2;
    process.stdout.write(`${name}: half of its saturation is ${rate.toFixed(0)}/s\n`);
    const supply = rate * seconds * SPARE + CONNECTIONS;
    const load = { port, traffic, rate, supply, seconds, windowSeconds: WINDOW_SECONDS };
    const send = await prepareLoad({ ...load, connections: CONNECTIONS }, resources);
    const result = await send();
    if (result.exhausted) throw new VoidRun(`${name}: too few signed requests`);
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
      subject: `${name}: p99 by p50 at half of saturation (${between}), median of ${windows.length} windows`,
      measured:
        `p50 ${middle('p50')} ms, p99 ${middle('p99')} ms; ` +
        `best ${Math.min(...ratios).toFixed(1)}, worst ${Math.max(...ratios).toFixed(1)}`,
      value: median(ratios),
      goal: goal === null ? null : { relation: '<=', value: goal },
    };
  });
}

/** Compares memory after the last legs with memory after the first; in a short run, one half with the other. */
function memoryOver(samples: readonly Memory[]): Finding {
  const compared = Math.min(MEASURED_LEGS, Math.max(1, Math.floor(samples.length / 2)));
  const middle = (some: readonly Memory[]) =>
    median(some.map(({ withoutGarbage }) => withoutGarbage));
  const early = middle(samples.slice(0, compared));
  const late = middle(samples.slice(-compared));
  const highest = Math.max(...samples.map(({ withGarbage }) => withGarbage));
  return {
    subject: `memory without garbage after the last ${compared} of ${LEGS} legs, by that after the first`,
    measured: `${late.toFixed(0)} MiB, ${early.toFixed(0)} MiB; ${highest.toFixed(0)} MiB with garbage`,
    value: late / early,
    // The only leg of a short run would be compared with itself.
    goal: LEGS > 1 ? { relation: '<=', value: 1.1 } : null,
  };
}
