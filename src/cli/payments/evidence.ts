import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { audited } from '#accounts/audit/audited-change.ts';
import type { AccountingStatement } from '#reports/accounting/file.ts';
import { type Evidence, makeEvidence } from '#reports/evidence/document.ts';
import { readPublicKeys } from '#reports/evidence/keys.ts';
import type { Signed } from '#reports/evidence/sign.ts';
import { EvidenceRefused, verifyEvidence } from '#reports/evidence/verify.ts';
import type { CommissionStatement } from '#reports/partners/commission-file.ts';
import type { CliCommand } from '../cli-command.ts';
import { type JsonFlag, printList, printObject } from '../print.ts';
import { withProgress } from '../progress.ts';
import { withSession } from '../session.ts';
import { CommandFailed, FailureShown, type Terminal } from '../terminal.ts';
import { parseId } from '../values.ts';
import { requirePayment } from './payment-object.ts';

/** Timeout of fetching keys from a URL, in milliseconds. */
const KEYS_TIMEOUT_MS = 10_000;

/** Adds `mp payment evidence`. */
export function defineEvidence(noun: CliCommand): void {
  noun
    .command('evidence')
    .description('write what is known of a payment, and what from, as one signed document')
    .argument('<id>', 'payment ID', parseId)
    .option('--out <file>', 'file to write instead of standard output')
    .onDatabase(async (session, id: string, { out }: { readonly out?: string }) => {
      const { db, keyring, clock, config } = session;
      const payment = await requirePayment(db, id);
      const { publicUrl } = config;
      const signed = await makeEvidence({ db, keyring, clock, publicUrl }, payment);
      await audited(session, 'payment.evidence', async () => ({
        result: undefined,
        objectId: id,
        detail: { keyId: signed.keyId },
      }));
      const text = `${JSON.stringify(signed, null, 2)}\n`;
      if (out === undefined) noun.terminal.out(text);
      else await writeFile(out, text).catch(refuseFile);
    });
}

/** Documents that the service signs. */
type Document = Evidence | CommissionStatement | AccountingStatement;

interface VerifyFlags extends JsonFlag {
  readonly keys?: string;
  readonly csv?: string;
}

/** `mp evidence verify` */
export function define(noun: CliCommand): void {
  const { terminal } = noun;
  noun
    .verb('verify', 'tell whether a document is as this service, or another, has signed it')
    .argument('<file>', 'file with the evidence, or a folder with files of it (.json and .jsonl)')
    .option('--keys <file or URL>', 'public keys to verify with, instead of those of the database')
    .option('--csv <file>', 'file with the commission of a month that the document signs')
    .action(async (path: string, { keys, csv, ...flags }: VerifyFlags) => {
      const files = await filesIn(path).catch(refuseFile);
      if (files !== undefined && csv !== undefined) {
        throw new CommandFailed('--csv belongs to one document, not to a folder.');
      }
      const known = keys === undefined ? await ownKeys(terminal) : await readKeys(keys);
      if (files !== undefined) return verifyFolder(terminal, flags, files, known);
      const evidence = await verifyFile(path, known);
      if (csv !== undefined) await compareFile(csv, evidence.evidence);
      printObject(terminal, flags, foundIn(evidence));
    });
}

/** The documents in a folder, in alphabetical order; undefined for a file. */
async function filesIn(path: string): Promise<string[] | undefined> {
  if (!(await stat(path)).isDirectory()) return undefined;
  const names = (await readdir(path)).filter(name => /\.jsonl?$/.test(name));
  if (names.length === 0) throw new CommandFailed(`${path} has no files .json and .jsonl.`);
  return names.toSorted().map(name => join(path, name));
}

/** @throws FailureShown when one of the files proves nothing. */
async function verifyFolder(
  terminal: Terminal,
  flags: JsonFlag,
  files: readonly string[],
  keys: readonly unknown[],
): Promise<void> {
  const found: { file: string; valid: boolean; reason: string | null }[] = [];
  await withProgress(terminal, 'mp evidence verify', async report => {
    for (const file of files) {
      report(found.length, files.length);
      try {
        found.push({ file, ...foundIn(await verifyFile(file, keys)), reason: null });
      } catch (error) {
        if (!(error instanceof CommandFailed)) throw error;
        found.push({ file, valid: false, reason: error.message });
      }
    }
  });
  const wrong = found.filter(({ valid }) => !valid).length;
  const note = `${found.length - wrong} of ${found.length} are valid.`;
  printList(terminal, flags, found, ['file', 'valid', 'reason'], note);
  if (wrong > 0) throw new FailureShown();
}

/** @throws CommandFailed for a file that cannot be read, or proves nothing. */
async function verifyFile(file: string, keys: readonly unknown[]): Promise<Signed<Document>> {
  return readEvidence(file, await readFile(file).catch(refuseFile), keys);
}

function foundIn({ evidence, keyId }: Signed<Document>) {
  const { madeAt, service } = evidence;
  return { valid: true, keyId, service, madeAt, ...subjectOf(evidence) };
}

function subjectOf(evidence: Document): object {
  if ('payment' in evidence) {
    return { paymentId: evidence.payment.id, status: evidence.payment.status };
  }
  if ('accounting' in evidence) {
    const { merchantId, environment, accounting } = evidence;
    return { merchantId, environment, ...accounting };
  }
  const { partnerId, commission, file } = evidence;
  return { partnerId, ...commission, sha256: file.sha256 };
}

/** @throws CommandFailed unless the file is the one that the document signs. */
async function compareFile(file: string, evidence: Document): Promise<void> {
  if (!('file' in evidence)) throw new CommandFailed('The document signs no file.');
  const content = await readFile(file).catch(refuseFile);
  if (createHash('sha256').update(content).digest('hex') !== evidence.file.sha256) {
    throw new CommandFailed(`${file} is not the file that was signed.`);
  }
}

function readEvidence(
  file: string,
  content: Uint8Array,
  keys: readonly unknown[],
): Signed<Document> {
  try {
    // Everything that the service has signed is in one of its formats.
    return verifyEvidence(content, keys) as Signed<Document>;
  } catch (error) {
    if (!(error instanceof EvidenceRefused)) throw error;
    throw new CommandFailed(`${file} proves nothing. ${error.message}`);
  }
}

async function ownKeys(terminal: Terminal): Promise<readonly unknown[]> {
  let keys: readonly unknown[] = [];
  await withSession(terminal, async ({ db }) => {
    ({ keys } = await readPublicKeys(db));
  });
  return keys;
}

async function readKeys(from: string): Promise<readonly unknown[]> {
  const set = /^https?:/.test(from) ? await fetchJson(from) : await readJson(from);
  const { keys } = (set ?? {}) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new CommandFailed(`${from} is no set of public keys.`);
  return keys;
}

async function fetchJson(url: string): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(KEYS_TIMEOUT_MS) });
    return await response.json();
  } catch (error) {
    throw new CommandFailed(`${url} cannot be read.`, { cause: error });
  }
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) throw new CommandFailed(`${file} is no JSON.`);
    return refuseFile(error);
  }
}

/** @throws CommandFailed with the reason why a file cannot be read or written. */
export function refuseFile(error: unknown): never {
  throw new CommandFailed(error instanceof Error ? error.message : String(error), { cause: error });
}
