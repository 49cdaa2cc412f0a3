import { STATUS_CODES } from 'node:http';
import { type ApiRequest, type ApiResponse, createClient } from '#client/index.ts';
import { readBody } from '../named-file.ts';
import { cell, type JsonFlag, jsonText, printJson, printLines } from '../print.ts';
import { FailureShown, type Terminal } from '../terminal.ts';
import { defineCommand, JSON_OPTION, URL_OPTION, WrongUsage } from './command.ts';
import { describeSilence } from './failure.ts';

const NOTABLE_HEADERS = ['X-Request-Id', 'X-MP-Should-Retry', 'Retry-After', 'Idempotent-Replayed'];
/** Characters that a header cannot contain: control characters and those beyond Latin-1 (RFC 9110). */
const NOT_IN_A_HEADER = /[^\t\x20-\x7e\x80-\xff]/;

interface RequestGiven extends JsonFlag {
  readonly method: ApiRequest['method'];
  readonly path: string;
  readonly body?: string;
  readonly idempotencyKey?: string;
}

/** `mp request METHOD PATH` */
export const command = defineCommand<RequestGiven>({
  positionals: [
    { name: 'method', description: 'GET or POST', parse: parseMethod },
    {
      name: 'path',
      description: 'path with its query, for example /external/v1/payments',
      parse: parsePath,
    },
  ],
  options: [
    JSON_OPTION,
    {
      flags: '--body <json|@file>',
      description: 'body, sent unchanged; @file reads it from a file',
    },
    {
      flags: '--idempotency-key <key>',
      description: 'Idempotency-Key header',
      parse: parseHeader,
    },
    URL_OPTION,
  ],
  notes: 'Exit status: 0 for a response of 2xx, else 1.',
  async run(context, given) {
    const { method, path, idempotencyKey } = given;
    if (method === 'GET' && given.body !== undefined) {
      throw new WrongUsage('a GET request has no body');
    }
    const { baseUrl, credentials } = await context.connect({ ...given });
    const body = given.body === undefined ? undefined : await readBody(given.body);
    const client = createClient({ baseUrl, ...credentials, maxAttempts: 1 });
    const response = await client.request({ method, path, body, idempotencyKey }).catch(error => {
      throw describeSilence(context, baseUrl, error);
    });
    printResponse(context.terminal, given, response);
    if (response.status < 200 || response.status > 299) throw new FailureShown();
  },
});

function printResponse(terminal: Terminal, { json }: JsonFlag, response: ApiResponse): void {
  const { status, headers } = response;
  const body = parseJson(response.body);
  if (json) printJson(terminal, { status, headers: Object.fromEntries(headers), body });
  else printLines(terminal, headLines(response), toText(body));
}

function headLines({ status, headers }: ApiResponse): string[] {
  const notable = NOTABLE_HEADERS.filter(name => headers.has(name));
  return [
    `HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(),
    ...notable.map(name => `${name}: ${headers.get(name)}`),
  ];
}

/** Returns text that is not JSON unchanged. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function toText(body: unknown): string | undefined {
  if (body === '') return undefined;
  return typeof body === 'string' ? body.split('\n').map(cell).join('\n') : jsonText(body);
}

function parseMethod(text: string): ApiRequest['method'] {
  const method = text.toUpperCase();
  if (method === 'GET' || method === 'POST') return method;
  throw new WrongUsage('Must be GET or POST.');
}

/**
 * Normalizes a path as fetch does, because the signature has to match the path that is sent.
 * @throws WrongUsage for a path that would send the signed headers to another host.
 */
function parsePath(text: string): string {
  const base = 'http://service.invalid';
  const url = URL.canParse(text, base) ? new URL(text, base) : undefined;
  const path = text.startsWith('/') && url?.origin === base ? url.pathname + url.search : '//';
  if (!path.startsWith('//') && !text.includes('#')) return path;
  throw new WrongUsage('Must be a path with its query, for example /external/v1/payments.');
}

function parseHeader(text: string): string {
  if (!NOT_IN_A_HEADER.test(text)) return text;
  throw new WrongUsage('Must be Latin-1 characters without line breaks.');
}
