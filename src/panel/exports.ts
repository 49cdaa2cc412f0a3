import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { audited } from '../audit/audited-change.ts';
import { ApiError } from '../errors/api-error.ts';
import type { CsvColumn } from '../payments/csv.ts';
import { writeCsv } from './csv.ts';
import type { PanelDependencies } from './dependencies.ts';
import { operatorOf, sessionOf } from './hooks/access.ts';
import { requireOwnPage } from './hooks/same-origin.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Longest time that a file covers. */
export const EXPORT_DAYS_MAXIMUM = 366;
/** Rows that are read at once. */
export const EXPORT_PAGE = 1_000;
/** What somebody is told to wait whose former file is still being sent, in seconds. */
const RUNNING_RETRY_SECONDS = 10;

interface ExportFile<T> {
  readonly name: string;
  readonly columns: readonly CsvColumn<T>[];
  /** What it was asked for, for the audit log. */
  readonly filters: Readonly<Record<string, unknown>>;
  readonly pages: AsyncIterable<readonly T[]>;
}

/**
 * Lets each person have one file at a time, and a few an hour, of this replica: a file may hold millions of
 * rows.
 */
export class Exports {
  readonly #deps: Pick<PanelDependencies, 'db' | 'clock' | 'limits'>;
  /** People whose files are being sent. */
  readonly #running = new Set<string>();

  constructor(deps: Pick<PanelDependencies, 'db' | 'clock' | 'limits'>) {
    this.#deps = deps;
  }

  /**
   * Sends a file of comma-separated values that a person has asked for on one of our own pages, and audits
   * it at its end. HEAD gets the headers, and counts as no file.
   * @throws PanelRefusal when another site leads here, ApiError E9001 for too many.
   */
  async send<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    { name, columns, filters, pages }: ExportFile<T>,
  ): Promise<FastifyReply> {
    requireOwnPage(request);
    const isRead = request.method !== 'HEAD';
    if (isRead) {
      this.#occupy(request, reply);
      await this.#deps.limits.countExport(request);
    }
    const rows = this.#follow(request, filters, pages);
    return reply
      .header('content-type', 'text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${name}"`)
      .send(Readable.from(isRead ? writeCsv(columns, rows) : []));
  }

  /** Holds the person's place until the response is closed, whether anything of it was read or not. */
  #occupy(request: FastifyRequest, { raw: response }: FastifyReply): void {
    const { id } = sessionOf(request).person;
    if (this.#running.has(id)) {
      throw new ApiError('E9001', 'One file at a time.', {
        retryAfterSeconds: RUNNING_RETRY_SECONDS,
      });
    }
    // The client is gone already: its close event will not come again.
    if (response.destroyed) return;
    this.#running.add(id);
    response.on('close', () => this.#running.delete(id));
  }

  async *#follow<T>(
    request: FastifyRequest,
    filters: Readonly<Record<string, unknown>>,
    pages: AsyncIterable<readonly T[]>,
  ): AsyncGenerator<readonly T[]> {
    const { db, clock } = this.#deps;
    let rows = 0;
    try {
      for await (const page of pages) {
        rows += page.length;
        yield page;
      }
    } finally {
      const operator = operatorOf(request, db, clock);
      await audited(operator, 'payment.export', async () => ({
        result: undefined,
        objectId: operator.accountId ?? sessionOf(request).person.id,
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
