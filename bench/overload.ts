import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCrowd } from './crowd.ts';
import { runLoad } from './load.ts';
import { type Finding, median, percentile } from './measure.ts';
import type { BenchMerchants } from './merchants.ts';
import { type ProbeTimes, probeDuring } from './probes.ts';
import type { ServiceProcess } from './processes.ts';
import type { Resources } from './resources.ts';
import { type Contender, compare, inTurns, peakContender } from './rounds.ts';
import { CONNECTIONS, ROUNDS, SECONDS } from './settings.ts';
import { creates } from './traffic.ts';

const TURNS = Math.min(ROUNDS, 3);
/** Signed requests, as a multiple of those needed at the planned rate. */
const SPARE = 1.1;
/** The load, as a multiple of the peak. */
const OVERLOAD = 3;
/** Connections of the load: each waits for a response before it sends the next request. */
const OVERLOAD_CONNECTIONS = 1_024;
/** Pause after an overload, in milliseconds, so that its backlog does not fall on the next round. */
const RECOVERY_MS = 2_000;

/** Clients that open a new connection after each refusal. */
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
          port,
          traffic,
          rate,
          connections: OVERLOAD_CONNECTIONS,
          mayShed: true,
          seconds: 2 * SECONDS,
          supply: rate * 2 * SECONDS * SPARE + OVERLOAD_CONNECTIONS,
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

/**
 * Alternates between as many clients as the peak has, and a crowd that reconnects as soon as it is refused.
 * Throughput is per core that the clients leave free.
 */
export async function reconnects(
  resources: Resources,
  { merchants, service: { port } }: Subject,
): Promise<Finding[]> {
  const refused: number[] = [];
  const contender = (name: string, clients: number): Contender => {
    const plan = { port, clients, merchants, seconds: 2 * SECONDS };
    return {
      name,
      warmUp: async () => undefined,
      async round() {
        const result = await runCrowd(resources, plan);
        refused.push(result.refused / result.seconds);
        await sleep(RECOVERY_MS);
        return result.created / (availableParallelism() * result.seconds - result.cpuSeconds);
      },
    };
  };
  const [few, many] = [`${CONNECTIONS} clients`, 'a crowd'];
  const contenders = [contender(few, CONNECTIONS), contender(many, RECONNECTING)];
  const throughput = await inTurns(contenders, TURNS);
  const finding = compare(
    throughput,
    `goodput per free core with ${RECONNECTING} clients that reconnect as soon as they are refused`,
    [many, few],
    0.6,
  );
  const most = Math.max(...refused).toFixed(0);
  return [{ ...finding, measured: `${finding.measured}; at most ${most}/s refused` }];
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
