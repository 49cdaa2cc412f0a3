import type { FoundTransfer } from '#onchain/watching/look-up/found-transfers.ts';
import {
  type FoundTransaction,
  findTransaction,
} from '#onchain/watching/operate/find-transaction.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import { listNetworks } from '#storage/repositories/chains/networks.ts';
import { toolsOf } from '../chains/node.ts';
import type { CliCommand } from '../cli-command.ts';
import type { JsonFlag } from '../print.ts';

/** `mp payment find-transaction` */
export function defineFindTransaction(noun: CliCommand): void {
  noun
    .verb('find-transaction', 'ask a chain for a transaction, and what it paid')
    .argument('<network>', 'network ID, for example eth-usdt')
    .argument('<hash>', 'transaction hash')
    .onDatabase(async (session, network: string, hash: string, flags: JsonFlag) => {
      const found = await findTransaction(session, toolsOf(session), network, hash);
      const networks = await listNetworks(session.db);
      const decimals = new Map(networks.map(({ id, asset_decimals }) => [id, asset_decimals]));
      const transfers = found.transfers.map(transfer => transferObject(transfer, decimals));
      const { transactionHash, verdict, confirmations, required } = found;
      const object = { network, transactionHash, verdict, confirmations };
      if (flags.json) return session.show({ ...object, transfers });
      const rows = transfers.map((transfer, index) => {
        return { network: found.transfers[index]?.blockchainId, ...transfer };
      });
      session.show({ ...object, required, transfers: rows }, noteOf(found));
    });
}

function transferObject(transfer: FoundTransfer, decimals: ReadonlyMap<string, number>) {
  const { position, address, tokenAmount, depositId, paymentId, outcome, blockchainId } = transfer;
  return {
    position,
    address,
    tokenAmount: formatBaseUnits(tokenAmount, decimals.get(blockchainId) ?? 0),
    depositId,
    paymentId,
    outcome,
  };
}

function noteOf({ missing, network }: FoundTransaction): string | undefined {
  if (missing === 0) return undefined;
  return `Not everything is recorded: its block is scanned again. Progress: mp network status ${network.id}`;
}
