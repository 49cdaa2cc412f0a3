import { STATUS_CODES } from 'node:http';
import { InvalidArgumentError } from 'commander';
import { type ApiRequest, type ApiResponse, createClient } from '../../client/index.ts';
import { readConfig } from '../../config/config.ts';
import { DEMO_ROLES, type DemoRole } from '../../development/demo-credentials.ts';
import type { CliCommand } from '../cli-command.ts';
import { readBody } from '../named-file.ts';
import { type JsonFlag, printJson, printLines } from '../print.ts';
import { CommandFailed, FailureShown, type Terminal } from '../terminal.ts';
import { choice } from '../values.ts';
import { chooseAddress, chooseDemoAddress } from './request-address.ts';
import { chooseCredentials } from './request-credentials.ts';

const NOTABLE_HEADERS = ['X-Request-Id', 'X-MP-Should-Retry', 'Retry-After', 'Idempotent-Replayed'];
/** Characters that a header cannot contain: control characters and those beyond Latin-1 (RFC 9110). */
const NOT_IN_A_HEADER = /[^\t\x20-\x7e\x80-\xff]/;

interface RequestFlags extends JsonFlag {
  readonly body?: string;
  readonly idempotencyKey?: string;
  readonly url?: string;
  readonly as?: DemoRole;
}

/** `mp request METHOD PATH` */
export function define(command: CliCommand): void {
  const { terminal } = command;
  command
    .json()
    .argument('<method>', 'GET or POST', parseMethod)
    .argument('<path>', 'path with its query, for example /external/v1/payments', parsePath)
    .option('--body <json|@file>', 'body, sent unchanged; @file reads it from a file')
    .option('--idempotency-key <key>', 'Idempotency-Key header', parseHeader)
    .option(
      '--url <url>',
      'URL of the service (default: PUBLIC_URL, or this machine; demo keys: this machine)',
      parseBase,
    )
    .addOption(
      choice(
        '--as <account>',
        'demo key to sign with (default: the key of MP_KEY_ID, else merchant)',
        [...DEMO_ROLES],
      ),
    )
    .action(async (method: ApiRequest['method'], path: string, flags: RequestFlags) => {
      if (method === 'GET' && flags.body !== undefined) {
        command.error('error: a GET request has no body');
      }
      const { env } = terminal;
      const { dataDirectory } = readConfig({ DATA_DIRECTORY: env.DATA_DIRECTORY });
      const { credentials, isDemo } = await chooseCredentials(env, dataDirectory, flags.as);
      const baseUrl = isDemo
        ? await chooseDemoAddress(dataDirectory, flags.url)
        : await chooseAddress(env, flags.url);
      const body = flags.body === undefined ? undefined : await readBody(flags.body);
      const client = createClient({ baseUrl, ...credentials, maxAttempts: 1 });
      const response = await client
        .request({ method, path, body, idempotencyKey: flags.idempotencyKey })
        .catch(error => {
          throw connectionFailure(baseUrl, error);
        });
      printResponse(terminal, flags, response);
      if (response.status < 200 || response.status > 299) throw new FailureShown();
    });
}

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
  return typeof body === 'string' ? body : JSON.stringify(body, null, 2);
}

/** fetch puts the reason into the cause. */
function connectionFailure(baseUrl: string, error: unknown): CommandFailed {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const { code, name, message } = cause as NodeJS.ErrnoException;
  if (name === 'TimeoutError') return new CommandFailed(`${baseUrl} did not answer in time.`);
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') {
    return new CommandFailed(
      `Nothing answers on ${baseUrl} (${code}): is it running? Start it with "npm start".`,
    );
  }
  return new CommandFailed(`The request to ${baseUrl} failed: ${message || code || name}.`);
}

function parseMethod(text: string): ApiRequest['method'] {
  const method = text.toUpperCase();
  if (method === 'GET' || method === 'POST') return method;
  throw new InvalidArgumentError('Must be GET or POST.');
}

/**
 * Normalizes a path as fetch does, because the signature has to match the path that is sent.
 * @throws InvalidArgumentError for a path that would send the signed headers to another host.
 */
function parsePath(text: string): string {
  const base = 'http://service.invalid';
  const url = URL.canParse(text, base) ? new URL(text, base) : undefined;
  const path = text.startsWith('/') && url?.origin === base ? url.pathname + url.search : '//';
  if (!path.startsWith('//') && !text.includes('#')) return path;
  throw new InvalidArgumentError(
    'Must be a path with its query, for example /external/v1/payments.',
  );
}

function parseHeader(text: string): string {
  if (!NOT_IN_A_HEADER.test(text)) return text;
  throw new InvalidArgumentError('Must be Latin-1 characters without line breaks.');
}

function parseBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // PATH is the whole path of the request: a path in --url would be ignored.
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new InvalidArgumentError('Must be scheme and host, for example http://127.0.0.1:3000.');
}
