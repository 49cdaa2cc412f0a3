import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { audited } from '#accounts/audit/audited-change.ts';
import { ApiError } from '#errors/api-error.ts';
import type { FilePart } from '#payments/csv.ts';
import { operatorOf, sessionOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { requireOwnPage } from '../hooks/same-origin.ts';

/** Rows that are read from the database at once. */
export const EXPORT_PAGE = 1_000;
/** Retry-After while the person's previous file is still being sent, in seconds. */
const RUNNING_RETRY_SECONDS = 10;

/** Media type of comma-separated values. */
export const CSV = 'text/csv; charset=utf-8';

interface ExportFile {
  readonly name: string;
  /** CSV unless given. */
  readonly type?: string;
  /** What the audit log calls it. */
  readonly action?: 'payment.export' | 'commission.export' | 'accounting.export';
  /** For the audit log. */
  readonly filters: Readonly<Record<string, unknown>>;
  /** Backpressure: the next part is made once the client has taken the previous one. */
  readonly parts: AsyncIterable<FilePart>;
}

/**
 * Sends files of rows. A file may hold millions of them, so each person gets one at a time from this replica, and a
 * few an hour.
 */
export class Exports {
  readonly #deps: PanelDependencies;
  /** People whose files are being sent. */
  readonly #running = new Set<string>();

  constructor(deps: PanelDependencies) {
    this.#deps = deps;
  }

  /**
   * Sends a file that a person requested on one of our own pages, and audits it when it ends. HEAD gets only the
   * headers, and is not counted.
   * @throws PanelRefusal for a link from another site, ApiError E9001 for too many files.
   */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    file: ExportFile,
  ): Promise<FastifyReply> {
    requireOwnPage(request);
    const isRead = request.method !== 'HEAD';
    if (isRead) {
      this.#occupy(request, reply);
      await this.#deps.limits.countExport(request);
    }
    return reply
      .header('content-type', file.type ?? CSV)
      .header('content-disposition', `attachment; filename="${file.name}"`)
      .send(Readable.from(isRead ? this.#write(request, file) : []));
  }

  /** Counts the person's file as running until the response is closed, whether it was read or not. */
  #occupy(request: FastifyRequest, { raw: response }: FastifyReply): void {
    const { id } = sessionOf(request).person;
    if (this.#running.has(id)) {
      throw new ApiError('E9001', 'One file at a time.', {
        retryAfterSeconds: RUNNING_RETRY_SECONDS,
      });
    }
    // The client is gone: `close` was emitted already and will not be again.
    if (response.destroyed) return;
    this.#running.add(id);
    response.on('close', () => this.#running.delete(id));
  }

  async *#write(
    request: FastifyRequest,
    { action = 'payment.export', filters, parts }: ExportFile,
  ): AsyncGenerator<string> {
    let rows = 0;
    try {
      for await (const part of parts) {
        rows += part.rows;
        if (part.text !== '') yield part.text;
      }
    } finally {
      const operator = operatorOf(request, this.#deps);
      await audited(operator, action, async () => ({
        result: undefined,
        objectId: operator.accountId ?? sessionOf(request).person.id,
        detail: { filters, rows },
      }));
    }
  }
}
