import { setTimeout as sleep } from 'node:timers/promises';
import { runLoad } from './load.ts';
import { type Finding, median } from './measure.ts';
import type { BenchMerchants } from './merchants.ts';
import { askAsNewcomer, type Waited } from './newcomers.ts';
import type { ServerProcess } from './processes.ts';
import type { Resources } from './resources.ts';
import { type Contender, compare, httpContender, inTurns } from './rounds.ts';
import { ROUNDS, SECONDS } from './settings.ts';
import { creates } from './traffic.ts';

/** The peak differs between rounds, and so does the load that is three times as much. */
const TURNS = Math.min(ROUNDS, 3);
/** What a load stays clear of running out of signed requests by. */
const SPARE = 1.1;
/** How far the load goes beyond what can be served. */
const OVERLOAD = 3;
/** Connections that offer it: each waits for its answer before it offers the next. */
const OVERLOAD_CONNECTIONS = 1_024;
/** What is left of an overload when the next round begins falls on that one: wait, in milliseconds. */
const RECOVERY_MS = 2_000;

type Subject = Pick<BenchMerchants, 'merchants'> & { readonly service: ServerProcess };

/** Lets the service create at its peak and offers it three times as much, in turns. */
export async function overload(
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
  const waits: Waited[] = [];
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
      const newcomers = await askAsNewcomer(port, running);
      const { requests, created, seconds, p50, p99 } = await running;
      waits.push(...newcomers);
      answered.push(requests / seconds);
      latencies.push([p50, p99]);
      await sleep(RECOVERY_MS);
      return created / seconds;
    },
  };
  const throughput = await inTurns([peak, goodput], TURNS);
  const p50 = median(latencies.map(([middle]) => middle));
  const p99 = median(latencies.map(([, slow]) => slow));
  const slowest = waits.reduce((worst, next) => (next.seconds > worst.seconds ? next : worst));
  return [
    compare(
      throughput,
      `goodput while ${OVERLOAD_CONNECTIONS} connections want ${OVERLOAD} times the peak`,
      [goodput.name, peak.name],
      0.8,
    ),
    {
      subject: 'answers meanwhile',
      measured: `${median(answered).toFixed(0)}/s of any kind`,
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
      subject: 'slowest answer to a newcomer meanwhile, in seconds',
      measured: `${slowest.seconds.toFixed(2)} s (${slowest.path}) of ${waits.length}, health checks and refusals`,
      ratio: slowest.seconds,
      // How long Kubernetes waits for a probe unless it is told otherwise, in seconds.
      goal: { relation: '<=', value: 1 },
    },
  ];
}
