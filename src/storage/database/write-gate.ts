import { ReadsRefused, WritesRefused } from './errors.ts';

/**
 * Refuses writes while they could be lost with one machine, or while a restore of the database is unconfirmed. Refuses
 * all statements while what they read could be lost with one machine.
 */
export interface WriteGate {
  /** Why a statement may not be sent; undefined where it may. */
  refuse(text: string): ReadsRefused | WritesRefused | undefined;
  /** Handles a notice that the server sends beside its results. */
  heed(notice: { readonly routine?: string | undefined }): void;
}

interface WriteGateOptions {
  /** Each returns why writes are refused, or null while they are accepted. */
  readonly writes: readonly (() => string | null)[];
  /** Returns why reads are refused, or null while they are allowed. */
  readonly reads?: () => string | null;
  /** Called when a commit of the session was let through without a standby. */
  readonly onCancelledWait?: () => void;
}

/**
 * Statements that change rows (also by functions, or by making and dropping monthly partitions) or lock rows: locking a
 * row writes WAL, so that the commit waits for a standby as well.
 */
const WRITE =
  /\b(?:insert\s+into|delete\s+from|merge\s+into|update|for\s+(?:key\s+)?share|(?:make|drop)_month_partitions?|hold_address|note_address_of|begin_address_period|refuse_simulation)\b/i;
/** A statement that asks its own commit to wait for nothing may be lost anyway, as nonces may. */
const RELAXED = `set_config('synchronous_commit', 'off', true)`;

/** Statements that end a transaction; they read nothing. */
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
