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
import { httpContender, inTurns } from './rounds.ts';
import { CONNECTIONS, ROUNDS, SOAK_SECONDS } from './settings.ts';
import { gets, MIXTURE, mixture } from './traffic.ts';

/** Saturation is measured in at most so many rounds: what matters comes after it. */
const SATURATION_ROUNDS = Math.min(ROUNDS, 3);
/** What a load stays clear of running out of signed requests by. */
const SPARE = 1.1;
/** Latencies are told for windows of so many seconds, of which the middle one counts. */
const WINDOW_SECONDS = Math.min(10, Math.ceil(SOAK_SECONDS / 3));
/** Of the rate, what goes to bare Fastify as well: it tells what the machine does to anyone. */
const CONTROL_SHARE = 0.1;
/** Memory is looked at so many times. */
const MEMORY_SAMPLES = 240;

/** What runs for long: the service, and what tells how quiet the machine was meanwhile. */
interface Subject extends Pick<BenchMerchants, 'merchants'> {
  readonly service: ServerProcess;
  readonly control: ServerProcess;
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
    ...(await soak(resources, { merchants, service, control })),
    ...(await overload(resources, { merchants, service })),
  ];
}

async function soak(
  resources: Resources,
  { merchants, service, control }: Subject,
): Promise<Finding[]> {
  const saturated = httpContender(resources, {
    name: 'saturation',
    port: service.port,
    traffic: mixture(merchants),
  });
  const saturate = async () => {
    const rates = await inTurns([saturated], SATURATION_ROUNDS);
    return median(rates.get(saturated.name) ?? []);
  };
  const saturation = await saturate();
  const rate = saturation / 2;

  // Each kind has a load of its own: together, p50 would be of reads and p99 of creates.
  const plans = [
    ...MIXTURE.map(({ name, share, traffic }) => ({
      name,
      share,
      traffic,
      server: service,
      goal: 4,
    })),
    {
      name: 'bare Fastify with a SELECT',
      share: CONTROL_SHARE,
      traffic: gets,
      server: control,
      goal: null,
    },
  ];
  const loads = [];
  for (const { name, share, traffic, server, goal } of plans) {
    const supply = rate * share * SOAK_SECONDS * SPARE + CONNECTIONS;
    const plan = {
      ...{ port: server.port, rate: rate * share, connections: CONNECTIONS, supply },
      ...{ traffic: traffic(merchants), seconds: SOAK_SECONDS, windowSeconds: WINDOW_SECONDS },
    };
    loads.push({ name, goal, send: await prepareLoad(plan, resources) });
  }
  const running = Promise.all(
    loads.map(async ({ name, goal, send }) => latencies(name, goal, await send())),
  );
  const samples = await watchMemory(service.pid, running, (SOAK_SECONDS * 1000) / MEMORY_SAMPLES);
  const findings = await running;
  const [early, late] = compareQuarters(samples);
  const after = await saturate();
  return [
    ...findings,
    {
      subject: 'saturation after the run against before',
      measured: `${after.toFixed(0)}/s, before ${saturation.toFixed(0)}/s`,
      ratio: after / saturation,
      // A machine that has become slower has run nearer to its saturation than at half of it.
      goal: null,
    },
    {
      subject: `memory over ${SOAK_SECONDS} s`,
      measured: `${late.toFixed(0)} MiB at the end, ${early.toFixed(0)} MiB in the second quarter`,
      ratio: late / early,
      goal: { relation: '<=', value: 1.1 },
    },
  ];
}

function latencies(name: string, most: number | null, result: LoadResult): Finding {
  const { requests, seconds, windows, p50, p99 } = result;
  const ratios = windows.map(window => window.p99 / window.p50);
  const rate = (requests / seconds).toFixed(0);
  const others = `worst ${Math.max(...ratios).toFixed(1)}, all in one ${(p99 / p50).toFixed(1)}`;
  return {
    subject: `${name} at ${rate}/s: p99 against p50, middle of ${windows.length} windows`,
    measured: `p50 ${median(windows.map(window => window.p50)).toFixed(1)} ms; ${others}`,
    ratio: median(ratios),
    goal: most === null ? null : { relation: '<=', value: most },
  };
}
