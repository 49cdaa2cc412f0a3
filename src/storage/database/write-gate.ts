import { ReadsRefused, WritesRefused } from './errors.ts';

/**
 * Refuses writes while they could be lost with one machine, or would go on from a state that was restored; and all
 * statements while what they find could be lost with one machine.
 */
export interface WriteGate {
  /** Why a statement may not be sent; undefined where it may. */
  refuse(text: string): ReadsRefused | WritesRefused | undefined;
  /** Takes notice of what the server says beside its results. */
  heed(notice: { readonly routine?: string | undefined }): void;
}

interface WriteGateOptions {
  /** Each says why writes are refused just now; null while they are taken. */
  readonly writes: readonly (() => string | null)[];
  /** Says why reads are refused just now; null while they are not. */
  readonly reads?: () => string | null;
  /** Called when a commit of the session was let through without a standby. */
  readonly onCancelledWait?: () => void;
}

/**
 * Statements that change rows, by functions and months of tables included, or lock rows: what locks a row writes to the log, so that its
 * commit waits for a standby as well.
 */
const WRITE =
  /\b(?:insert\s+into|delete\s+from|merge\s+into|update|for\s+(?:key\s+)?share|(?:make|drop)_month_partitions?|hold_address|begin_address_period)\b/i;
/** A statement that asks its own commit to wait for nothing may be lost anyway, as nonces may. */
const RELAXED = `set_config('synchronous_commit', 'off', true)`;

/** What ends a transaction, which shows nothing. */
const END = /^\s*(?:commit|rollback)\b/i;
/** The function of PostgreSQL that waits for standbys; the message itself is in the server's language. */
const WAIT = 'SyncRepWaitForLSN';

export function createWriteGate(options: WriteGateOptions): WriteGate {
  const { writes, reads = () => null, onCancelledWait } = options;
  return {
    heed({ routine }) {
      if (routine === WAIT) onCancelledWait?.();
    },
    refuse(text) {
      const hidden = reads();
      if (hidden !== null && !END.test(text)) return new ReadsRefused(hidden);
      for (const reason of writes) {
        const refused = reason();
        if (refused === null) continue;
        return WRITE.test(text) && !text.includes(RELAXED) ? new WritesRefused(refused) : undefined;
      }
      return undefined;
    },
  };
}
