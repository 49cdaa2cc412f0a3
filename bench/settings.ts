/** How much is measured; smaller numbers shorten a run, and larger ones make it steadier. */
import { delimiter, resolve } from 'node:path';

/** Measured rounds of each contender: odd, so that the median is one of them. */
export const ROUNDS = wholeNumber('BENCH_ROUNDS', 7);
/** Number of faults in the cluster: each kind three times. */
export const FAILOVER_ROUNDS = wholeNumber('BENCH_ROUNDS', 21);
/** Length of a round, in seconds. */
export const SECONDS = wholeNumber('BENCH_SECONDS', 3);
/** Size of the long history, in payments. */
export const PAYMENTS = wholeNumber('BENCH_PAYMENTS', 5_000_000);
/** Size of the short history, in payments. */
export const FEW_PAYMENTS = 10_000;
/** Payments that are created in a database that starts empty. */
export const YOUNG_PAYMENTS = wholeNumber('BENCH_YOUNG_PAYMENTS', 50_000);
/** How long the service runs at half of its saturation once it is warm, in seconds. */
export const SOAK_SECONDS = wholeNumber('SOAK_SECONDS', 600);
/** How much of a day of all chains is watched, in hours: each takes five minutes on a quiet machine. */
export const DAY_HOURS = wholeNumber('DAY_HOURS', 1);
/** Random histories of payments and transfers: the default takes a minute; a million prove more. */
export const TRUTH_HISTORIES = wholeNumber('TRUTH_HISTORIES', 10_000, 0);
/** Generated chains that are watched: the default takes a minute. */
export const TRUTH_CHAINS = wholeNumber('TRUTH_CHAINS', 1_000, 0);
/** Seed of the first of both: each is determined by its seed. */
export const TRUTH_SEED = wholeNumber('TRUTH_SEED', 0, 0);
/** Where each process of the service leaves a CPU profile when it ends; null for none. */
export const CPU_PROFILE_DIRECTORY = directory('BENCH_CPU_PROFILE');
/** Other checkouts, each with its own node_modules, whose services take part. */
export const AGAINST = (process.env.BENCH_AGAINST ?? '')
  .split(delimiter)
  .filter(path => path !== '')
  .map(path => resolve(path));

/** Connections of the load generator: enough to saturate one process, few enough to wait briefly. */
export const CONNECTIONS = 64;
/** Database connections of the service, of its variants and of pgbench; the service's default. */
export const POOL_SIZE = 10;

function wholeNumber(name: string, fallback: number, least = 1): number {
  const value = Number(process.env[name] || fallback);
  if (!Number.isSafeInteger(value) || value < least) {
    throw new Error(`${name} takes a whole number from ${least}`);
  }
  return value;
}

function directory(name: string): string | null {
  const path = process.env[name];
  return path ? resolve(path) : null;
}
