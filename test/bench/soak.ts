import { startBareWithSelect } from './baselines.ts';
import { createDatabase, DURABLE, startPostgres } from './databases.ts';
import { type LoadResult, prepareLoad } from './load.ts';
import { type Finding, median } from './measure.ts';
import { compareQuarters, watchMemory } from './memory.ts';
import { addMerchants, type BenchMerchants } from './merchants.ts';
import { overload } from './overload.ts';
import { type ServerProcess, startRedis, startService } from './processes.ts';
import { requirePrograms } from './required-programs.ts';
import type { Resources } from './resources.ts';
import { type Contender, httpContender } from './rounds.ts';
import { CONNECTIONS, SOAK_SECONDS } from './settings.ts';
import type { AnswerKind, Traffic } from './signed-requests.ts';
import { gets, MIXTURE, mixture } from './traffic.ts';

/** The run is divided into legs of so many seconds. */
const LEG_SECONDS = Math.min(60, SOAK_SECONDS);
const LEGS = Math.ceil(SOAK_SECONDS / LEG_SECONDS);
/** Latencies are told for windows of so many seconds, of which the middle one counts. */
const WINDOW_SECONDS = Math.min(10, Math.ceil(LEG_SECONDS / 3));
/** What a load stays clear of running out of signed requests by. */
const SPARE = 1.1;
/** Memory is looked at so many times or more: seldom, as each time starts a process. */
const MEMORY_SAMPLES = 60;

/** A server, and what is asked of it when it runs at half of what it can do. */
interface Subject {
  readonly name: string;
  readonly port: number;
  readonly traffic: Traffic;
  /** How long it runs in each leg, in seconds. */
  readonly seconds: number;
  /** Told apart: together, p50 would be of reads and p99 of creates. */
  readonly kinds: readonly { readonly name: string; readonly kind: AnswerKind }[];
  /** Most that p99 may be of p50; null for what is only told. */
  readonly goal: number | null;
  /** Measures how much of its traffic it can answer. */
  readonly saturated: Contender;
}

/** What a subject did in one leg. */
interface Leg extends Pick<LoadResult, 'windows'> {
  /** Requests a second, of which half were asked for. */
  readonly saturation: number;
}

/** Runs the service at half of what it can do for long, and then at three times as much. */
export async function bench(resources: Resources): Promise<Finding[]> {
  requirePrograms();
  const redisUrl = await startRedis(resources);
  const server = await startPostgres(resources, DURABLE);
  const { db, url: databaseUrl } = await createDatabase(resources, server, 'soak');
  const { merchants, masterKey } = await addMerchants(db);
  const state = { databaseUrl, masterKey, redisUrl };
  const service = await startService(resources, 'service', state);
  const control = await startBareWithSelect(resources, databaseUrl, merchants);
  return [
    ...(await soak(resources, merchants, { service, control })),
    ...(await overload(resources, { merchants, service })),
  ];
}

/**
 * Lets the service run at half of its saturation, which is measured anew for each leg: a machine that
 * is shared may do twice as much in one minute as in the next. Bare Fastify runs at half of its own
 * in between, and tells what the machine does to anyone.
 */
async function soak(
  resources: Resources,
  merchants: BenchMerchants['merchants'],
  { service, control }: { readonly service: ServerProcess; readonly control: ServerProcess },
): Promise<Finding[]> {
  const subject = (plan: Omit<Subject, 'saturated'>): Subject => ({
    ...plan,
    saturated: httpContender(resources, plan),
  });
  const subjects = [
    subject({
      name: 'service',
      port: service.port,
      traffic: mixture(merchants),
      seconds: LEG_SECONDS,
      kinds: MIXTURE,
      goal: 4,
    }),
    subject({
      name: 'bare Fastify',
      port: control.port,
      traffic: gets(merchants),
      // A window is over with the first answer after it.
      seconds: WINDOW_SECONDS + 1,
      kinds: [{ name: 'bare Fastify with a SELECT', kind: 'G' }],
      goal: null,
    }),
  ];
  const legs = new Map(subjects.map(each => [each, [] as Leg[]]));
  async function run(): Promise<void> {
    for (const { saturated } of subjects) await saturated.warmUp();
    for (let leg = 1; leg <= LEGS; leg++) {
      const told: string[] = [];
      for (const each of subjects) {
        const done = await runLeg(resources, each);
        legs.get(each)?.push(done);
        told.push(`${each.name} ${done.saturation.toFixed(0)}`);
      }
      process.stdout.write(`leg ${leg}, saturation a second: ${told.join(', ')}\n`);
    }
  }
  const running = run();
  const everyMs = (LEGS * LEG_SECONDS * 1000) / MEMORY_SAMPLES;
  const samples = await watchMemory(service.pid, running, everyMs);
  await running;
  const [early, late] = compareQuarters(samples);
  return [
    ...subjects.flatMap(each => latencies(each, legs.get(each) ?? [])),
    {
      subject: `memory over ${LEGS * LEG_SECONDS} s`,
      measured: `${late.toFixed(0)} MiB at the end, ${early.toFixed(0)} MiB in the second quarter`,
      ratio: late / early,
      goal: { relation: '<=', value: 1.1 },
    },
  ];
}

async function runLeg(
  resources: Resources,
  { port, traffic, seconds, saturated }: Subject,
): Promise<Leg> {
  const saturation = await saturated.round();
  const rate = saturation / 2;
  const plan = { port, traffic, rate, connections: CONNECTIONS, seconds };
  const supply = rate * seconds * SPARE + CONNECTIONS;
  const send = await prepareLoad({ ...plan, supply, windowSeconds: WINDOW_SECONDS }, resources);
  return { saturation, windows: (await send()).windows };
}

function latencies({ kinds, goal }: Subject, legs: readonly Leg[]): Finding[] {
  const rates = legs.map(({ saturation }) => saturation / 2);
  const between = `${Math.min(...rates).toFixed(0)} to ${Math.max(...rates).toFixed(0)}/s`;
  return kinds.map(({ name, kind }) => {
    const windows = legs.flatMap(leg => leg.windows).filter(window => window.kind === kind);
    const ratios = windows.map(({ p50, p99 }) => p99 / p50);
    const middle = (which: 'p50' | 'p99') => median(windows.map(window => window[which]));
    return {
      subject: `${name}, all at ${between}: p99 against p50, middle of ${windows.length} windows`,
      measured:
        `p50 ${middle('p50').toFixed(1)} ms, p99 ${middle('p99').toFixed(1)} ms; ` +
        `best ${Math.min(...ratios).toFixed(1)}, worst ${Math.max(...ratios).toFixed(1)}`,
      ratio: median(ratios),
      goal: goal === null ? null : { relation: '<=', value: goal },
    };
  });
}
