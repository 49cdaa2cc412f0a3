import type pg from 'pg';

/**
 * The responses that a client of the service got, recorded outside of it, and what the service must therefore still
 * have.
 */
export class Ledger {
  /** ID of the payment in the first response to an idempotency key, which is its reference as well. */
  readonly created = new Map<string, string>();
  /** References of creations that were sent, whatever their result. */
  readonly asked = new Set<string>();
  /** Key IDs whose revocation was confirmed. */
  readonly revoked = new Set<string>();
  /** Payments whose amount was transferred, with the transaction. */
  readonly paid = new Map<string, string>();
  /** Types of the events that have arrived, by payment. */
  readonly told = new Map<string, Set<string>>();
  readonly #faults: Fault[] = [];

  /** Records what must never happen, when it happens. */
  accuse(kind: FaultKind, subject: string): void {
    this.#faults.push({ kind, subject });
  }

  hear(paymentId: string, type: string): void {
    const types = this.told.get(paymentId) ?? new Set();
    this.told.set(paymentId, types.add(type));
  }

  /** Records the first response to a creation; a later one must name the same payment. */
  acknowledge(reference: string, paymentId: string): void {
    const known = this.created.get(reference) ?? paymentId;
    if (known !== paymentId) this.accuse('doubled', reference);
    this.created.set(reference, known);
  }

  /** Whether every event that is owed has arrived. */
  isTold(): boolean {
    return this.#owed().every(([id, type]) => this.told.get(id)?.has(type));
  }

  #owed(): (readonly [string, string])[] {
    return [
      ...[...this.created.values()].map(id => [id, 'payment_prompt.created'] as const),
      ...[...this.paid.keys()].map(id => [id, 'payment_prompt.successful'] as const),
    ];
  }

  /**
   * Compares all of it with the database.
   * @param session The primary's.
   * @param isOver Whether events and deposits have had their time.
   */
  async judge(session: pg.Client, isOver: boolean): Promise<Readonly<Record<FaultKind, number>>> {
    const faults = [...this.#faults];
    // Responses that come while the database is read need not be in the result.
    const [created, told, revoked] = [[...this.created], [...this.told.keys()], [...this.revoked]];
    const rows = await readPayments(session);
    const held = Map.groupBy(rows, ({ reference }) => reference);
    for (const [reference, id] of created) {
      if (!held.get(reference)?.some(row => row.id === id)) {
        faults.push({ kind: 'lost', subject: reference });
      }
    }
    for (const reference of this.asked) {
      if ((held.get(reference)?.length ?? 0) > 1)
        faults.push({ kind: 'doubled', subject: reference });
    }
    const ids = new Map(rows.map(row => [row.id, row]));
    // A payment that a merchant got an event for, and that is gone.
    for (const id of told) {
      if (!ids.has(id)) faults.push({ kind: 'lost', subject: id });
    }
    if (isOver) {
      for (const [id, hash] of this.paid) {
        const row = ids.get(id);
        if (row?.status !== 'successful' || row.hash !== hash) {
          faults.push({ kind: 'depositLost', subject: id });
        }
      }
      for (const [id, type] of this.#owed()) {
        if (!this.told.get(id)?.has(type)) faults.push({ kind: 'eventLost', subject: id });
      }
    }
    const { rows: keys } = await session.query<{ id: string }>(
      'select id from api_keys where id = any($1) and revoked_at is null',
      [revoked],
    );
    for (const { id } of keys) faults.push({ kind: 'accepted', subject: id });
    return count(faults);
  }
}

/** What must never happen. */
export const FAULTS = {
  lost: 'acknowledged payments lost',
  doubled: 'keys with two payments',
  accepted: 'revoked keys accepted',
  depositLost: 'deposits lost',
  eventLost: 'events lost',
} as const;
export type FaultKind = keyof typeof FAULTS;

interface Fault {
  readonly kind: FaultKind;
  /** Faults of a subject are reported once, however often they are seen. */
  readonly subject: string;
}

function count(faults: readonly Fault[]): Record<FaultKind, number> {
  const subjects = (kind: FaultKind) =>
    new Set(faults.filter(fault => fault.kind === kind).map(({ subject }) => subject));
  const kinds = Object.keys(FAULTS) as FaultKind[];
  return Object.fromEntries(kinds.map(kind => [kind, subjects(kind).size])) as Record<
    FaultKind,
    number
  >;
}

interface HeldPayment {
  readonly id: string;
  readonly reference: string;
  readonly status: string;
  readonly hash: string | null;
}

async function readPayments(session: pg.Client): Promise<HeldPayment[]> {
  const { rows } = await session.query<HeldPayment>(`
    select id, customer_reference_id as reference, status, transaction_hash as hash from payments`);
  return rows;
}
