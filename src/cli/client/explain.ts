import { randomUUID } from 'node:crypto';
import { ApiError } from '#errors/api-error.ts';
import { canonicalHead, type SignedParts, signRequest } from '#signing/canonical.ts';
import { checkNonce, checkTimestamp } from '#signing/check-headers.ts';
import { canonicalDigest, describeMismatch } from '#signing/describe-mismatch.ts';
import { type Explanation, explainMismatch } from '#signing/explain-mismatch.ts';
import { parseSentTarget, type SentTarget, withoutPrefix } from '#signing/sent-target.ts';
import { readBody } from '../named-file.ts';
import { type JsonFlag, printJson, printLines } from '../print.ts';
import { FailureShown, type Terminal } from '../terminal.ts';
import {
  type ClientContext,
  defineCommand,
  type ExplainingKey,
  JSON_OPTION,
  WrongUsage,
} from './command.ts';
import { FORMS } from './credentials-file.ts';
import { findErrorCode, printError } from './explain-error.ts';

/** Characters that HTTP clients encode before they send them (URL standard, path and query). */
const NOT_IN_A_TARGET = /[^\x21-\x7e]|["<>#\\^`{|}]/;
const LINE_FEED_SHOWN = '\u240a';
const CARRIAGE_RETURN_SHOWN = '\u240d';

interface ExplainGiven extends JsonFlag {
  readonly method: string;
  readonly path?: SentTarget;
  readonly body?: string;
  readonly timestamp?: string;
  readonly nonce?: string;
  readonly signature?: string;
}

/** `mp explain METHOD PATH` and `mp explain CODE` */
export const command = defineCommand<ExplainGiven>({
  positionals: [
    {
      name: 'method',
      description: 'method that was sent; or the code of an error, as E2007, and no path',
      parse: parseMethod,
    },
    {
      name: 'path',
      description: 'path with its query, or the URL, exactly as it was sent',
      parse: parseTarget,
      isOptional: true,
    },
  ],
  options: [
    JSON_OPTION,
    {
      flags: '--body <json|@file>',
      description: 'body, exactly as it was sent; @file reads a file',
    },
    { flags: '--timestamp <seconds>', description: 'X-MP-TIMESTAMP (default: now)' },
    { flags: '--nonce <text>', description: 'X-MP-NONCE (default: a new one)' },
    {
      flags: '--signature <text>',
      description: 'X-MP-SIGNATURE; left out, the right one is shown',
    },
  ],
  notes:
    'Nothing is sent and no database is read. The secret comes from MP_SECRET where it is set, and with\n' +
    'MP_KEY_ID and MP_PASSPHRASE more mistakes are recognised; none of them is ever shown.\n' +
    'Exit status: 0 when the signature matches or none is given, 1 when it differs.',
  async run(context, given) {
    const { method, path } = given;
    const errorCode = findErrorCode(method);
    if (errorCode !== undefined && path === undefined) {
      return printError(context.terminal, given, errorCode);
    }
    if (path === undefined) throw new WrongUsage("missing required argument 'path'");
    await explainRequest(context, given, path);
  },
});

async function explainRequest(
  context: ClientContext,
  given: ExplainGiven,
  target: SentTarget,
): Promise<void> {
  const { method, signature, timestamp, nonce } = given;
  if (signature !== undefined && (timestamp === undefined || nonce === undefined)) {
    throw new WrongUsage('a signature is explained with its --timestamp and its --nonce');
  }
  const key = await context.explainingKey({ ...given });
  const now = Date.now();
  const parts: SignedParts = {
    timestamp: timestamp ?? String(Math.floor(now / 1000)),
    nonce: nonce ?? randomUUID(),
    method,
    path: withoutPrefix(target.path, key.publicUrl),
    body: Buffer.from(given.body === undefined ? '' : await readBody(given.body)),
  };
  const explanation =
    signature === undefined
      ? undefined
      : explainMismatch(key.secret, parts, signature, { ...key, host: target.host });
  const notes = notesOn(key.secret, parts, now);
  print(context.terminal, given, { parts, key, explanation, notes });
  if (explanation?.matches === false) throw new FailureShown();
}

interface Explained {
  readonly parts: SignedParts;
  readonly key: ExplainingKey;
  /** Undefined when there was no signature to explain. */
  readonly explanation: Explanation | undefined;
  readonly notes: readonly string[];
}

function print(
  terminal: Terminal,
  { json, signature }: Pick<ExplainGiven, 'json' | 'signature'>,
  { parts, key, explanation, notes }: Explained,
): void {
  const canonical = canonicalHead(parts) + Buffer.from(parts.body).toString();
  const expected = signRequest(key.secret, parts).toString('hex');
  const headers = headersOf(parts, key, expected);
  if (json) {
    printJson(terminal, {
      matches: explanation?.matches ?? null,
      explanation: explanation === undefined ? null : describeMismatch(explanation),
      findings: explanation?.findings ?? [],
      notes,
      canonicalRequest: canonical,
      sha256: canonicalDigest(parts),
      expectedSignature: expected,
      givenSignature: signature ?? null,
      headers,
    });
    return;
  }
  printLines(terminal, [
    `Canonical request, ${Buffer.byteLength(canonical)} bytes (${LINE_FEED_SHOWN} is a line feed):`,
    ...showLines(canonical).map(line => `  ${line}`),
    '',
    `SHA-256 of it       ${canonicalDigest(parts)}`,
    `Expected signature  ${expected}`,
    ...(signature === undefined ? [] : [`Given signature     ${signature}`]),
    '',
    ...(explanation === undefined
      ? [
          'Headers to send:',
          ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`),
        ]
      : [describeMismatch(explanation)]),
    ...notes.map(note => `Note: ${note}`),
  ]);
}

function headersOf(parts: SignedParts, { keyId }: ExplainingKey, signature: string) {
  return {
    'X-MP-KEY-ID': keyId ?? '(your key ID)',
    'X-MP-PASSPHRASE': '(the passphrase that came with the secret)',
    'X-MP-TIMESTAMP': parts.timestamp,
    'X-MP-NONCE': parts.nonce,
    'X-MP-SIGNATURE': signature,
    ...(parts.body.length === 0 ? {} : { 'Content-Type': 'application/json' }),
  };
}

function showLines(canonical: string): string[] {
  const shown = canonical
    .replaceAll('\r', CARRIAGE_RETURN_SHOWN)
    .replaceAll('\n', `${LINE_FEED_SHOWN}\n`);
  return shown.replace(/\n$/, '').split('\n');
}

/** What the service would refuse before it looks at the signature, and what a client would change. */
function notesOn(secret: string, parts: SignedParts, now: number): string[] {
  const { timestamp, nonce, path, method, body } = parts;
  const notes = [
    FORMS.secret[0].test(secret)
      ? undefined
      : `MP_SECRET is no secret of an API key. ${FORMS.secret[1]}`,
    refusalOf(() => checkNonce(nonce)),
    refusalOf(() => checkTimestamp(timestamp, now)),
  ].filter(note => note !== undefined);
  if (NOT_IN_A_TARGET.test(path)) {
    const { pathname, search } = new URL(path, 'http://service.invalid');
    notes.push(
      `The path has characters that HTTP clients encode or leave out. Most send it as ${pathname}${search}: sign that.`,
    );
  }
  if (method === 'GET' && body.length > 0) {
    notes.push('A GET request is sent without a body, and signed without one.');
  }
  return notes;
}

function refusalOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError)
      return `Sent now, it is refused with ${error.errorCode}. ${error.message}`;
    throw error;
  }
}

function parseMethod(text: string): string {
  if (/^[a-z]{1,16}$/i.test(text) || findErrorCode(text) !== undefined) return text.toUpperCase();
  if (/^e\d+$/i.test(text)) throw new WrongUsage(`There is no error ${text.toUpperCase()}.`);
  throw new WrongUsage('It takes a method, as in GET or POST.');
}

function parseTarget(text: string): SentTarget {
  const target = parseSentTarget(text);
  if (target !== undefined) return target;
  throw new WrongUsage('It takes a path with its query, as in /external/v1/payments.');
}
