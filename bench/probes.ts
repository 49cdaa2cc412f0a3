import { setTimeout as sleep } from 'node:timers/promises';
import { timed, VoidRun } from './measure.ts';
import type { ServiceProcess } from './processes.ts';
import { signedHeaders, type Traffic } from './signed-requests.ts';

/** Pause between two probes of a kind, in milliseconds. */
const PAUSE_MS = 50;
/** Concurrent signed probes: only some of them are refused. */
const SIGNED_PROBES = 4;
/** The longest wait for a response, in milliseconds. */
const GIVE_UP_MS = 5_000;

/** How long the service took to respond to probes, in milliseconds; infinite without a right response. */
export interface ProbeTimes {
  /** Signed requests that were refused. */
  readonly refusals: number[];
  /** /healthz and /readyz on the monitoring port. */
  readonly health: number[];
}

/**
 * Sends single requests until a load has ended, and adds their durations to the times. wrk measures the
 * load, but cannot tell which of its requests was refused.
 * @throws VoidRun for a response that is neither right nor a refusal.
 */
export async function probeDuring(
  load: Promise<unknown>,
  { port, monitoringPort }: ServiceProcess,
  traffic: Traffic,
  { refusals, health }: ProbeTimes,
): Promise<void> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  load.then(end, end);
  const repeat = async (probe: () => Promise<void>) => {
    while (!ended) {
      await probe();
      await sleep(PAUSE_MS);
    }
  };
  const healthProbe = (path: string) => async () => {
    let status = 0;
    const ms = await timed(async () => {
      // Orchestrators open a connection for each probe.
      status = await ask(`http://127.0.0.1:${monitoringPort}${path}`, {
        headers: { connection: 'close' },
      });
    });
    health.push(status === 200 ? ms : Number.POSITIVE_INFINITY);
  };
  const signedProbe = async () => {
    const request = traffic();
    let status = 0;
    const ms = await timed(async () => {
      status = await ask(`http://127.0.0.1:${port}${request.path}`, {
        method: request.method,
        headers: signedHeaders(request, Date.now()),
        ...(request.body === undefined ? {} : { body: request.body }),
      });
    });
    if (status === 503) refusals.push(ms);
    else if (status === 0) refusals.push(Number.POSITIVE_INFINITY);
    else if (status !== 201) throw new VoidRun(`the response to a create was ${status}`);
  };
  await Promise.all([
    repeat(healthProbe('/healthz')),
    repeat(healthProbe('/readyz')),
    ...Array.from({ length: SIGNED_PROBES }, () => repeat(signedProbe)),
  ]);
}

/** The status of the response once it is complete; 0 without a response. */
async function ask(url: string, init: RequestInit): Promise<number> {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(GIVE_UP_MS) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}
