import { closeFinding } from '#onchain/watching/operate/operate-chain.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Finding } from '#storage/database/watching-tables.ts';
import { listOpenFindings } from '#storage/repositories/chains/findings.ts';
import { listNetworks } from '#storage/repositories/chains/networks.ts';
import type { CliCommand } from '../cli-command.ts';
import { parseId, parseName } from '../values.ts';

/** `mp finding list | resolve` */
export function define(noun: CliCommand): void {
  noun
    .verb('list', 'list findings that are not resolved, oldest first')
    .limit()
    .onDatabase(async ({ db, showList }, { limit }: { limit: number }) => {
      showList(await findingObjects(db, await listOpenFindings(db, limit)), [
        ...(['id', 'kind', 'chain', 'network', 'transactionHash'] as const),
        ...(['address', 'amount', 'height', 'foundAt', 'detail'] as const),
      ]);
    });

  noun
    .verb('resolve', 'close a finding that has been looked into')
    .argument('<id>', 'finding ID', parseId)
    .option('--note <text>', 'what came of it, for the audit log', parseName)
    .onDatabase(async (session, id: string, { note }: { note?: string }) => {
      const closed = await closeFinding(session, id, note);
      const [object] = await findingObjects(session.db, [closed]);
      if (object !== undefined) session.show(object, 'Resolved.');
    });
}

/** Findings as commands print them. Amounts are decimal strings. */
async function findingObjects(db: Connection, findings: readonly Finding[]) {
  const networks = await listNetworks(db);
  return findings.map(finding => {
    const { amount, chain, blockchain_id: network } = finding;
    // A finding without a network is about the native asset, whose network has the chain's ID.
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
