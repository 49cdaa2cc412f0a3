import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, DURABLE, startPostgres } from './databases.ts';
import { checkHealth } from './health-checks.ts';
import { prepareLoad, runLoad } from './load.ts';
import { type Finding, median } from './measure.ts';
import { compareQuarters, watchMemory } from './memory.ts';
import { addMerchants, type BenchMerchants } from './merchants.ts';
import { type ServerProcess, startRedis, startService } from './processes.ts';
import { requirePrograms } from './required-programs.ts';
import type { Resources } from './resources.ts';
import { type Contender, compare, httpContender, inTurns } from './rounds.ts';
import { CONNECTIONS, ROUNDS, SECONDS, SOAK_SECONDS } from './settings.ts';
import { creates, MIXTURE, mixture } from './traffic.ts';

/** Saturation is measured in at most so many rounds: what matters comes after it. */
const SATURATION_ROUNDS = Math.min(ROUNDS, 3);
/** What a load stays clear of running out of signed requests by. */
const SPARE = 1.1;
/** Memory is looked at so many times. */
const MEMORY_SAMPLES = 240;
/** How far the load goes beyond what can be served. */
const OVERLOAD = 3;
/** Connections that offer it: each waits for its answer before it offers the next. */
const OVERLOAD_CONNECTIONS = 1_024;
/** What is left of an overload when the next round begins falls on that one: wait, in milliseconds. */
const RECOVERY_MS = 2_000;

type Subject = Pick<BenchMerchants, 'merchants'> & { readonly service: ServerProcess };

/** Runs the service at half of what it can do for long, and then at three times as much. */
export async function bench(resources: Resources): Promise<Finding[]> {
  requirePrograms();
  const redisUrl = await startRedis(resources);
  const server = await startPostgres(resources, DURABLE);
  const { db, url: databaseUrl } = await createDatabase(resources, server, 'soak');
  const { merchants, masterKey } = await addMerchants(db);
  const state = { databaseUrl, masterKey, redisUrl };
  const service = await startService(resources, 'service', state);
  const subject = { merchants, service };
  return [...(await soak(resources, subject)), ...(await overload(resources, subject))];
}

async function soak(
  resources: Resources,
  { merchants, service: { port, pid } }: Subject,
): Promise<Finding[]> {
  const saturated = httpContender(resources, {
    name: 'saturation',
    port,
    traffic: mixture(merchants),
  });
  const rates = await inTurns([saturated], SATURATION_ROUNDS);
  const rate = median(rates.get(saturated.name) ?? []) / 2;

  // Each kind has a load of its own: together, p50 would be of reads and p99 of creates.
  const plans = MIXTURE.map(({ name, share, traffic }) => ({ name, rate: rate * share, traffic }));
  const loads = [];
  for (const { name, rate, traffic } of plans) {
    const supply = rate * SOAK_SECONDS * SPARE + CONNECTIONS;
    const plan = { port, rate, connections: CONNECTIONS, seconds: SOAK_SECONDS, supply };
    const send = await prepareLoad({ ...plan, traffic: traffic(merchants) }, resources);
    loads.push({ name, send });
  }
  const running = Promise.all(
    loads.map(async ({ name, send }) => ({ name, result: await send() })),
  );
  const samples = await watchMemory(pid, running, (SOAK_SECONDS * 1000) / MEMORY_SAMPLES);
  const findings = (await running).map(({ name, result }): Finding => {
    const { requests, seconds, p50, p99 } = result;
    return {
      subject: `${name} at half of saturation: p99 against p50`,
      measured: `${p99.toFixed(1)} ms, ${p50.toFixed(1)} ms at ${(requests / seconds).toFixed(0)}/s`,
      ratio: p99 / p50,
      goal: { relation: '<=', value: 4 },
    };
  });
  const [early, late] = compareQuarters(samples);
  return [
    ...findings,
    {
      subject: `memory over ${SOAK_SECONDS} s`,
      measured: `${late.toFixed(0)} MiB at the end, ${early.toFixed(0)} MiB in the second quarter`,
      ratio: late / early,
      goal: { relation: '<=', value: 1.1 },
    },
  ];
}

async function overload(
  resources: Resources,
  { merchants, service: { port } }: Subject,
): Promise<Finding[]> {
  const traffic = creates(merchants);
  let most = 0;
  const peak = httpContender(resources, {
    name: 'peak of creates',
    port,
    traffic,
    onResult: ({ requests, seconds }) => {
      most = Math.max(most, requests / seconds);
    },
  });
  const answered: number[] = [];
  const health: number[] = [];
  const latencies: (readonly [p50: number, p99: number])[] = [];
  const goodput: Contender = {
    name: 'goodput',
    warmUp: async () => undefined,
    async round() {
      const rate = OVERLOAD * most;
      const running = runLoad(
        {
          ...{ port, traffic, rate, connections: OVERLOAD_CONNECTIONS, mayShed: true },
          ...{ seconds: 2 * SECONDS, supply: rate * 2 * SECONDS * SPARE + OVERLOAD_CONNECTIONS },
        },
        resources,
      );
      const checks = await checkHealth(port, running);
      const { requests, created, seconds, p50, p99 } = await running;
      health.push(...checks);
      answered.push(requests / seconds);
      latencies.push([p50, p99]);
      await sleep(RECOVERY_MS);
      return created / seconds;
    },
  };
  const throughput = await inTurns([peak, goodput], SATURATION_ROUNDS);
  const p50 = median(latencies.map(([middle]) => middle));
  const p99 = median(latencies.map(([, slow]) => slow));
  const slowest = Math.max(...health);
  return [
    compare(throughput, `goodput at ${OVERLOAD} times the load`, [goodput.name, peak.name], 0.8),
    {
      subject: 'load that got through',
      measured: `${median(answered).toFixed(0)}/s of any kind, against the peak`,
      ratio: median(answered) / median(throughput.get(peak.name) ?? []),
      // A connection offers nothing while it waits, and those that were refused are made to.
      goal: null,
    },
    {
      subject: 'p99 of all answers meanwhile, in seconds',
      measured: `${p99.toFixed(0)} ms, p50 ${p50.toFixed(0)} ms`,
      ratio: p99 / 1000,
      // Retry-After tells 1 s, which this load ignores and the service enforces; and then it is served.
      goal: { relation: '<=', value: 2 },
    },
    {
      subject: 'slowest health check meanwhile, in seconds',
      measured: `${slowest.toFixed(2)} s of ${health.length} checks`,
      ratio: slowest,
      // How long Kubernetes waits for a probe unless it is told otherwise, in seconds.
      goal: { relation: '<=', value: 1 },
    },
  ];
}
