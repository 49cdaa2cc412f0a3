import { WritesRefused } from './errors.ts';

/** Refuses writes while they could be lost with one machine, or would go on from a state that was restored. */
export interface WriteGate {
  /** Why a statement may not be sent; undefined where it may. */
  refuse(text: string): WritesRefused | undefined;
}

/**
 * Statements that change rows, by functions and months of tables included, or lock rows: what locks a row writes to the log, so that its
 * commit waits for a standby as well.
 */
const WRITE =
  /\b(?:insert\s+into|delete\s+from|merge\s+into|update|for\s+(?:key\s+)?share|(?:make|drop)_month_partitions?|hold_address|begin_address_period)\b/i;
/** A statement that asks its own commit to wait for nothing may be lost anyway, as nonces may. */
const RELAXED = `set_config('synchronous_commit', 'off', true)`;

/** @param reasons Each says why writes are refused just now; null while they are taken. */
export function createWriteGate(...reasons: readonly (() => string | null)[]): WriteGate {
  return {
    refuse(text) {
      for (const reason of reasons) {
        const refused = reason();
        if (refused === null) continue;
        return WRITE.test(text) && !text.includes(RELAXED) ? new WritesRefused(refused) : undefined;
      }
      return undefined;
    },
  };
}
