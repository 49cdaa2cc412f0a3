import { valueDeposits } from '#onchain/settlement/value-deposits.ts';
import type { Rates } from '#payments/rates/rate-source.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import { batchLoop } from './batch-loop.ts';
import type { Loop } from './loop.ts';

/** Deposits of a network in a statement: few enough that it is short. */
const BATCH = 500;
/** Short compared with how fast prices move, so that the recorded price is that of the arrival. */
const INTERVAL_MS = 5_000;
const IDLE_MS = 15_000;

/** Records what deposits in the inbox, and those that settled payments, are worth. */
export function valueDepositsLoop(db: Database, rates: Rates, clock: Clock): Loop {
  const pauses = { intervalMs: INTERVAL_MS, idleMs: IDLE_MS };
  return batchLoop({ name: 'value-deposits', ...pauses, size: BATCH }, () =>
    valueDeposits(db, rates, new Date(clock()), BATCH),
  );
}
