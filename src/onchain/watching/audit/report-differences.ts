import { newId } from '#crypto/new-id.ts';
import { addFinding } from '#storage/repositories/chains/findings.ts';
import type { Clock } from '#time/clock.ts';
import { reportUnreadable } from '../loop/unreadable.ts';
import {
  type AuditedPart,
  type AuditSubject,
  auditPart,
  type Difference,
} from './reconcile-blocks.ts';

/** Audits blocks as `auditPart` does, and records findings of what differs or cannot be read. */
export async function auditAndReport(
  subject: AuditSubject,
  range: { readonly from: number; readonly to: number },
  clock: Clock,
): Promise<AuditedPart> {
  const part = await auditPart(subject, range);
  const { db, network } = subject;
  const { id: blockchainId, chain } = network;
  const now = new Date(clock());
  for (const { kind, ...difference } of part.differences) {
    const found = { id: newId(), chain, kind: 'ledger_difference', blockchainId, ...difference };
    await addFinding(db, { ...found, detail: `${KINDS[kind]}: ${difference.detail}` }, now);
  }
  await reportUnreadable(db, chain, part.unreadable, now);
  return part;
}

const KINDS: Readonly<Record<Difference['kind'], string>> = {
  missing: 'Not in the ledger',
  differs: 'Otherwise in the ledger',
  not_on_chain: 'Not on the chain',
};
