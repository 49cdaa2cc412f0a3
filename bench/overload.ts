import { setTimeout as sleep } from 'node:timers/promises';
import { runLoad } from './load.ts';
import { type Finding, median, percentile } from './measure.ts';
import type { BenchMerchants } from './merchants.ts';
import { type ProbeTimes, probeDuring } from './probes.ts';
import type { ServiceProcess } from './processes.ts';
import type { Resources } from './resources.ts';
import { type Contender, compare, inTurns, peakContender } from './rounds.ts';
import { ROUNDS, SECONDS } from './settings.ts';
import type { Traffic } from './signed-requests.ts';
import { creates } from './traffic.ts';

const TURNS = Math.min(ROUNDS, 3);
/** Signed requests, as a multiple of those that are needed at the planned rate. */
const SPARE = 1.1;
/** The load, as a multiple of the peak. */
const OVERLOAD = 3;
/** Most responses of a crowd, as a multiple of the peak: refusals cost less than creations. */
const REFUSALS_MAXIMUM = 6;
/** Connections of the load: each waits for a response before it sends the next request. */
const OVERLOAD_CONNECTIONS = 1_024;
/** Pause after an overload, in milliseconds, so that its backlog does not fall on the next round. */
const RECOVERY_MS = 2_000;

/** Clients that open a connection for each request. */
const RECONNECTING = 1_500;

type Subject = Pick<BenchMerchants, 'merchants'> & { readonly service: ServiceProcess };

/** Alternates between the peak of creates and three times that load. */
export async function overload(
  resources: Resources,
  { merchants, service }: Subject,
): Promise<Finding[]> {
  const { port } = service;
  const traffic = creates(merchants);
  const peak = peakContender(resources, { name: 'peak of creates', port, traffic });
  const responses: number[] = [];
  const refused: number[] = [];
  const times: ProbeTimes = { refusals: [], health: [] };
  const goodput: Contender = {
    name: 'goodput',
    warmUp: async () => undefined,
    async round() {
      const rate = OVERLOAD * peak.highest();
      const load = runLoad(
        {
          ...{ port, traffic, rate, connections: OVERLOAD_CONNECTIONS, mayShed: true },
          ...{ seconds: 2 * SECONDS, supply: rate * 2 * SECONDS * SPARE + OVERLOAD_CONNECTIONS },
        },
        resources,
      );
      await probeDuring(load, service, traffic, times);
      const { requests, created, shed, seconds } = await load;
      responses.push(requests / seconds);
      refused.push(shed / seconds);
      await sleep(RECOVERY_MS);
      return created / seconds;
    },
  };
  const throughput = await inTurns([peak, goodput], TURNS);
  return [
    compare(
      throughput,
      `goodput at ${OVERLOAD} times the peak of creates, over ${OVERLOAD_CONNECTIONS} connections`,
      [goodput.name, peak.name],
      0.6,
    ),
    {
      subject: 'responses of any kind meanwhile, as a ratio of the peak',
      measured: `${median(responses).toFixed(0)}/s, of which ${median(refused).toFixed(0)}/s refused`,
      value: median(responses) / median(throughput.get(peak.name) ?? []),
      goal: null,
    },
    slowest('refusal', times.refusals),
    slowest('health response on the monitoring port', times.health),
  ];
}

/** Alternates between few and many clients that open a new connection as soon as they have a response. */
export async function reconnects(
  resources: Resources,
  { merchants, service: { port } }: Subject,
): Promise<Finding[]> {
  const next = creates(merchants);
  const traffic: Traffic = () => ({ ...next(), closes: true });
  const peak = peakContender(resources, {
    name: 'peak of creates over new connections',
    port,
    traffic,
  });
  const refused: number[] = [];
  const crowd: Contender = {
    name: 'a crowd',
    warmUp: async () => undefined,
    async round() {
      const seconds = 2 * SECONDS;
      const supply = peak.highest() * REFUSALS_MAXIMUM * seconds + RECONNECTING;
      const plan = { port, traffic, connections: RECONNECTING, seconds, supply, mayShed: true };
      const { created, shed, seconds: took } = await runLoad(plan, resources);
      refused.push(shed / took);
      await sleep(RECOVERY_MS);
      return created / took;
    },
  };
  const throughput = await inTurns([peak, crowd], TURNS);
  const finding = compare(
    throughput,
    `goodput with ${RECONNECTING} clients that open a connection as soon as they have a response`,
    [crowd.name, peak.name],
    0.6,
  );
  return [{ ...finding, measured: `${finding.measured}; ${median(refused).toFixed(0)}/s refused` }];
}

function slowest(name: string, times: readonly number[]): Finding {
  const [p50, p99] = [median(times), percentile(times, 0.99)];
  return {
    subject: `slowest ${name} meanwhile, in seconds`,
    measured: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms of ${times.length} probes`,
    value: Math.max(0, ...times) / 1000,
    goal: { relation: '<=', value: 1 },
  };
}
