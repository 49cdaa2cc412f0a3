/** How much is measured; every number can be made smaller while working on the bench itself. */

/** Measured rounds of each contender: odd, so that the median is one of them. */
export const ROUNDS = positive('BENCH_ROUNDS', 7);
/** Length of a round, in seconds. */
export const SECONDS = positive('BENCH_SECONDS', 4);
/** Size of the long history, in payments. */
export const PAYMENTS = positive('BENCH_PAYMENTS', 5_000_000);
/** Size of the short history that the long one is held against, in payments. */
export const FEW_PAYMENTS = 10_000;
/** How long the service runs at half of its saturation once it is warm, in seconds. */
export const SOAK_SECONDS = positive('SOAK_SECONDS', 600);
/** Where the service's processes leave a CPU profile each when they end; null for none. */
export const CPU_PROFILE_DIRECTORY = process.env.BENCH_CPU_PROFILE || null;

/** Connections of the load generator: enough to keep one process busy, few enough to wait briefly. */
export const CONNECTIONS = 64;
/** Database connections of the service and of whatever it is held against; the service's default. */
export const POOL_SIZE = 10;

function positive(name: string, fallback: number): number {
  const value = Number(process.env[name] || fallback);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} takes a whole number from 1`);
  return value;
}
