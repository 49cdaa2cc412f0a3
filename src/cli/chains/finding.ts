import type { Command } from 'commander';
import type { Connection } from '../../database/connection.ts';
import type { Finding } from '../../database/watching-tables.ts';
import { formatBaseUnits } from '../../payments/token-amount.ts';
import { listOpenFindings } from '../../repositories/chains/findings.ts';
import { listNetworks } from '../../repositories/chains/networks.ts';
import { closeFinding } from '../../watching/operate/operate-chain.ts';
import { withSession } from '../accounts/session.ts';
import { printList, printObject } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import { addVerb, integerFrom, type JsonFlag, parseId, parseName } from '../values.ts';

const LIST_DEFAULT = 100;
const LIST_MAXIMUM = 1000;

/** `mp finding list | resolve` */
export function define(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'list', 'list findings that nobody has resolved, oldest first')
    .option(
      '--limit <n>',
      `most rows to list, 1 to ${LIST_MAXIMUM}`,
      integerFrom(1, LIST_MAXIMUM),
      LIST_DEFAULT,
    )
    .action(({ limit, ...flags }: JsonFlag & { limit: number }) =>
      withSession(terminal, async ({ db }) => {
        const findings = await findingObjects(db, await listOpenFindings(db, limit));
        printList(terminal, flags, findings, [
          ...(['id', 'kind', 'chain', 'network', 'transactionHash'] as const),
          ...(['address', 'amount', 'height', 'foundAt', 'detail'] as const),
        ]);
      }),
    );

  addVerb(noun, 'resolve', 'close a finding that has been looked into')
    .argument('<id>', 'finding ID', parseId)
    .option('--note <text>', 'what came of it, for the audit log', parseName)
    .action((id: string, { note, ...flags }: JsonFlag & { note?: string }) =>
      withSession(terminal, async session => {
        const closed = await closeFinding(session, id, note);
        const [object] = await findingObjects(session.db, [closed]);
        if (object !== undefined) printObject(terminal, flags, object, 'Resolved.');
      }),
    );
}

/** Findings as commands print them. Amounts are decimal strings. */
async function findingObjects(db: Connection, findings: readonly Finding[]) {
  const networks = await listNetworks(db);
  return findings.map(finding => {
    const { amount, chain, blockchain_id: network } = finding;
    // What names no network is of the native asset, whose network has the chain's ID.
    const asset = networks.find(({ id }) => id === (network ?? chain));
    return {
      id: finding.id,
      chain,
      kind: finding.kind,
      network,
      transactionHash: finding.transaction_hash,
      position: finding.position,
      address: finding.address,
      amount: amount === null ? null : formatBaseUnits(BigInt(amount), asset?.asset_decimals ?? 0),
      height: finding.height,
      detail: finding.detail,
      foundAt: finding.found_at,
    };
  });
}
