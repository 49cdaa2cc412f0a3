import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { VoidRun } from './measure.ts';
import type { BenchMerchant } from './merchants.ts';
import type { Resources } from './resources.ts';

const SCRIPT = join(import.meta.dirname, 'crowd-process.ts');

/** Clients that create payments, each on its own connection. */
export interface CrowdPlan {
  readonly port: number;
  readonly clients: number;
  readonly merchants: readonly BenchMerchant[];
  readonly seconds: number;
}

export interface CrowdResult {
  readonly created: number;
  /** Responses with E5002. */
  readonly refused: number;
  /** Any other responses, and connections that broke without one. */
  readonly other: number;
  readonly seconds: number;
  /** CPU time of the clients, which the service lacks where they share its cores. */
  readonly cpuSeconds: number;
}

/**
 * Runs the clients in a separate process.
 * @throws VoidRun when a response was neither a creation nor a refusal for overload, or a connection broke.
 */
export async function runCrowd({ signal }: Resources, plan: CrowdPlan): Promise<CrowdResult> {
  const child = spawn(process.execPath, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'], signal });
  child.stdin.end(JSON.stringify(plan));
  // When the bench is stopped, the child emits an error and ends.
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (status !== 0) throw new VoidRun(`the clients ended with status ${status}`);
  const result: CrowdResult = JSON.parse(output);
  if (result.other > 0) throw new VoidRun(`${result.other} responses are wrong or missing`);
  return result;
}
