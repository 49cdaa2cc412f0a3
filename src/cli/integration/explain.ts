import { randomUUID } from 'node:crypto';
import { InvalidArgumentError } from 'commander';
import { readConfig } from '../../config/config.ts';
import { DEMO_ROLES, type DemoRole } from '../../development/demo-credentials.ts';
import { ApiError } from '../../errors/api-error.ts';
import { canonicalHead, type SignedParts, signRequest } from '../../signing/canonical.ts';
import { canonicalDigest, describeMismatch } from '../../signing/describe-mismatch.ts';
import { type Explanation, explainMismatch } from '../../signing/explain-mismatch.ts';
import { parseSentTarget, type SentTarget } from '../../signing/sent-target.ts';
import { checkNonce, checkTimestamp } from '../../signing/verify-signature.ts';
import type { CliCommand } from '../cli-command.ts';
import { readBody } from '../named-file.ts';
import { type JsonFlag, printJson, printLines } from '../print.ts';
import { FailureShown, type Terminal } from '../terminal.ts';
import { choice } from '../values.ts';
import { chooseExplainingKey, type ExplainingKey } from './explaining-key.ts';

/** What HTTP clients encode before they send it (URL standard, path and query). */
const NOT_IN_A_TARGET = /[^\x21-\x7e]|["<>#\\^`{|}]/;
const SECRET = /^mps_[0-9a-f]{64}$/;
const LINE_FEED_SHOWN = '\u240a';
const CARRIAGE_RETURN_SHOWN = '\u240d';

interface ExplainFlags extends JsonFlag {
  readonly body?: string;
  readonly timestamp?: string;
  readonly nonce?: string;
  readonly signature?: string;
  readonly as?: DemoRole;
}

/** `mp explain METHOD PATH` */
export function define(command: CliCommand): void {
  const { terminal } = command;
  command
    .json()
    .argument('<method>', 'method that was sent', parseMethod)
    .argument('<path>', 'path with its query, or the URL, exactly as it was sent', parseTarget)
    .option('--body <json|@file>', 'body, exactly as it was sent; @file reads a file')
    .option('--timestamp <seconds>', 'X-MP-TIMESTAMP (default: now)')
    .option('--nonce <text>', 'X-MP-NONCE (default: a new one)')
    .option('--signature <text>', 'X-MP-SIGNATURE; left out, the right one is shown')
    .addOption(
      choice(
        '--as <account>',
        "demo key whose secret signs (default: MP_SECRET's, else merchant)",
        [...DEMO_ROLES],
      ),
    )
    .addHelpText(
      'after',
      '\nNothing is sent and no database is read. The secret comes from MP_SECRET, and with MP_KEY_ID\n' +
        'and MP_PASSPHRASE more mistakes are recognised; none of them is ever shown.\n' +
        'Exit status: 0 when the signature matches or none is given, 1 when it differs.',
    )
    .action(async (method: string, target: SentTarget, flags: ExplainFlags) => {
      const { signature, timestamp, nonce } = flags;
      if (signature !== undefined && (timestamp === undefined || nonce === undefined)) {
        command.error('error: a signature is explained with its --timestamp and its --nonce');
      }
      const { DATA_DIRECTORY } = terminal.env;
      const { dataDirectory } = readConfig({ DATA_DIRECTORY });
      const key = await chooseExplainingKey(terminal.env, dataDirectory, flags.as);
      const now = Date.now();
      const parts: SignedParts = {
        timestamp: timestamp ?? String(Math.floor(now / 1000)),
        nonce: nonce ?? randomUUID(),
        method,
        path: target.path,
        body: Buffer.from(flags.body === undefined ? '' : await readBody(flags.body)),
      };
      const explanation =
        signature === undefined
          ? undefined
          : explainMismatch(key.secret, parts, signature, { ...key, host: target.host });
      print(terminal, flags, { parts, key, explanation, notes: notesOn(key.secret, parts, now) });
      if (explanation?.matches === false) throw new FailureShown();
    });
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
  { json, signature }: ExplainFlags,
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
    SECRET.test(secret)
      ? undefined
      : 'MP_SECRET is no secret of an API key: mps_ and 64 lowercase hex digits, nothing else.',
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
  if (/^[a-z]{1,16}$/i.test(text)) return text.toUpperCase();
  throw new InvalidArgumentError('It takes a method, as in GET or POST.');
}

function parseTarget(text: string): SentTarget {
  const target = parseSentTarget(text);
  if (target !== undefined) return target;
  throw new InvalidArgumentError('It takes a path with its query, as in /external/v1/payments.');
}
