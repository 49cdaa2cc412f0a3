import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { audited } from '#accounts/audit/audited-change.ts';
import { ApiError } from '#errors/api-error.ts';
import type { FilePart } from '#payments/csv.ts';
import type { Signed } from '#reports/evidence/sign.ts';
import { operatorOf, sessionOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { requireOwnPage } from '../hooks/same-origin.ts';
import type { ReadRows } from './list.ts';

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
  readonly action?:
    | 'payment.export'
    | 'deposit.export'
    | 'commission.export'
    | 'accounting.export'
    | 'delivery.export'
    | 'request.export';
  /** For the audit log. */
  readonly filters: Readonly<Record<string, unknown>>;
  /** Backpressure: the next part is made once the client has taken the previous one. */
  readonly parts: AsyncIterable<FilePart>;
}

interface SignedFile {
  readonly name: string;
  /** What the audit log calls it, and what it is about. */
  readonly action: 'payment.evidence' | 'commission.evidence';
  readonly objectId: string;
  /** For the audit log, besides the ID of the key that signed it. */
  readonly detail?: Readonly<Record<string, unknown>>;
  readonly sign: () => Promise<Signed<unknown>>;
}

/** All rows of a list, the newest first, for its file. */
export async function* readAll<Row extends { readonly id: string }>(
  read: ReadRows<Row>,
): AsyncGenerator<readonly Row[]> {
  let cursor: Parameters<ReadRows<Row>>[0];
  let rows: readonly Row[];
  do {
    rows = await read(cursor, EXPORT_PAGE);
    yield rows;
    const last = rows.at(-1);
    cursor = last && { direction: 'older', id: last.id };
  } while (rows.length === EXPORT_PAGE);
}

/**
 * Sends files of rows, and signed documents. A file may hold, or be made of, millions of rows, so each person gets one
 * at a time from this replica, and a few an hour.
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
    const body = await this.#open(request, reply, async () =>
      Readable.from(this.#write(request, file)),
    );
    return reply
      .header('content-type', file.type ?? CSV)
      .header('content-disposition', `attachment; filename="${file.name}"`)
      .send(body);
  }

  /**
   * Signs a document that a person requested on one of our own pages, audits it, and sends it. HEAD gets only the
   * headers: it signs nothing and is not counted.
   * @throws PanelRefusal for a link from another site, ApiError E9001 for too many files; and what `sign` throws.
   */
  async sendSigned(
    request: FastifyRequest,
    reply: FastifyReply,
    { name, action, objectId, detail, sign }: SignedFile,
  ): Promise<FastifyReply> {
    const body = await this.#open(request, reply, async () => {
      const signed = await sign();
      await audited(operatorOf(request, this.#deps), action, async () => ({
        result: undefined,
        objectId,
        detail: { ...detail, keyId: signed.keyId },
      }));
      return `${JSON.stringify(signed, null, 2)}\n`;
    });
    return reply
      .header('content-type', 'application/json; charset=utf-8')
      .header('content-disposition', `attachment; filename="${name}"`)
      .serializer(String)
      .send(body);
  }

  /** Opens a file within the person's limits. */
  async #open<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    open: () => Promise<T>,
  ): Promise<T | Readable> {
    requireOwnPage(request);
    if (request.method === 'HEAD') return Readable.from([]);
    this.#occupy(request, reply);
    return this.#deps.limits.countExport(request, open);
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
