import type { FastifyRequest } from 'fastify';
import { audited } from '../../accounts/audited-change.ts';
import type { Database } from '../../database/connection.ts';
import { ApiError } from '../../errors/api-error.ts';
import { operatorOf, sessionOf } from '../../http/panel-access.ts';
import { requireOwnPage } from '../../http/same-origin.ts';
import type { Clock } from '../../time/clock.ts';

const HOUR_MS = 60 * 60_000;
const EXPORTS_PER_HOUR = 6;
const DAY_MS = 24 * HOUR_MS;
/** Longest time that a file covers. */
export const EXPORT_DAYS_MAXIMUM = 366;
/** Rows that are read at once. */
export const EXPORT_PAGE = 1_000;

/**
 * Lets each person have one file at a time, and six an hour, of this replica: a file may hold millions of
 * rows.
 */
export class Exports {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #begun = new Map<string, number[]>();
  readonly #running = new Set<string>();

  constructor(db: Database, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /**
   * Runs an export that a person has asked for on one of our own pages, and audits it at its end.
   * @param filters What it was asked for, for the audit log.
   * @returns The pages, to be sent.
   * @throws PanelRefusal when another site leads here, ApiError E9001 for too many.
   */
  begin<T>(
    request: FastifyRequest,
    filters: Readonly<Record<string, unknown>>,
    pages: AsyncIterable<readonly T[]>,
  ): AsyncIterable<readonly T[]> {
    requireOwnPage(request);
    const { id } = sessionOf(request).person;
    this.#admit(id);
    return this.#follow(request, id, filters, pages);
  }

  #admit(personId: string): void {
    const now = this.#clock();
    const begun = (this.#begun.get(personId) ?? []).filter(at => at > now - HOUR_MS);
    if (this.#running.has(personId) || begun.length >= EXPORTS_PER_HOUR) {
      const [oldest = now] = begun;
      const seconds = this.#running.has(personId) ? 10 : Math.ceil((oldest + HOUR_MS - now) / 1000);
      throw new ApiError('E9001', 'One file at a time, and six an hour.', {
        retryAfterSeconds: seconds,
      });
    }
    this.#begun.set(personId, [...begun, now]);
    this.#running.add(personId);
  }

  async *#follow<T>(
    request: FastifyRequest,
    personId: string,
    filters: Readonly<Record<string, unknown>>,
    pages: AsyncIterable<readonly T[]>,
  ): AsyncGenerator<readonly T[]> {
    let rows = 0;
    try {
      for await (const page of pages) {
        rows += page.length;
        yield page;
      }
    } finally {
      this.#running.delete(personId);
      const operator = operatorOf(request, this.#db, this.#clock);
      const objectId = operator.accountId ?? personId;
      await audited(operator, 'payment.export', async () => ({
        result: undefined,
        objectId,
        detail: { filters, rows },
      }));
    }
  }
}

/** The bounds of an export: at most 366 days, the last ones unless it says which. */
export function exportBounds(
  { from, to }: { from: Date | undefined; to: Date | undefined },
  now: Date,
): { readonly from: Date; readonly to: Date } {
  const end = to ?? now;
  const earliest = new Date(end.getTime() - EXPORT_DAYS_MAXIMUM * DAY_MS);
  return { from: from === undefined || from < earliest ? earliest : from, to: end };
}
