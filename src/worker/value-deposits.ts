import type { Database } from '../database/connection.ts';
import type { Rates } from '../rates/rate-source.ts';
import { valueDeposits } from '../settlement/value-deposits.ts';
import type { Clock } from '../time/clock.ts';
import { idlePause, type Loop } from './loop.ts';

/** Deposits of a network in a statement: few enough that it is short. */
const BATCH = 500;
/** Short next to how fast prices move, so that what is recorded is the price of the arrival. */
const INTERVAL_MS = 5_000;
const IDLE_MS = 15_000;

/** Records what deposits in the inbox are worth. */
export function valueDepositsLoop(db: Database, rates: Rates, clock: Clock): Loop {
  const pause = idlePause(INTERVAL_MS, IDLE_MS);
  return {
    name: 'value-deposits',
    get intervalMs() {
      return pause.ms;
    },
    async run(signal, beat) {
      let valued = BATCH;
      while (valued >= BATCH && !signal.aborted) {
        valued = await valueDeposits(db, rates, new Date(clock()), BATCH);
        if (valued > 0) pause.worked();
        beat();
      }
    },
  };
}
