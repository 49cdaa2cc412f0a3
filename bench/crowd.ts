import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { VoidRun } from './measure.ts';
import type { BenchMerchant } from './merchants.ts';
import type { Resources } from './resources.ts';

const SCRIPT = join(import.meta.dirname, 'crowd-process.ts');

/** Clients that create payments, each on a connection of its own. */
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
  /** Any other responses. */
  readonly other: number;
  readonly seconds: number;
  /** CPU time of the clients, which the service lacks where they share its cores. */
  readonly cpuSeconds: number;
}

/**
 * Lets the clients work in a process of their own.
 * @throws VoidRun when a response was neither a creation nor a refusal for overload.
 */
export async function runCrowd({ signal }: Resources, plan: CrowdPlan): Promise<CrowdResult> {
  const child = spawn(process.execPath, [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'], signal });
  child.stdin.end(JSON.stringify(plan));
  const result = (await json(child.stdout)) as CrowdResult;
  if (result.other > 0) throw new VoidRun(`${result.other} responses are wrong`);
  return result;
}
