import { auditNetwork } from '#onchain/watching/audit/audit-network.ts';
import { RESCAN_MAXIMUM } from '#onchain/watching/operate/operate-chain.ts';
import type { CliCommand } from '../cli-command.ts';
import type { JsonFlag } from '../print.ts';
import { withProgress } from '../progress.ts';
import { integerFrom } from '../values.ts';
import { HEIGHT_MAXIMUM } from './network-status.ts';
import { toolsOf } from './node.ts';

interface Flags extends JsonFlag {
  readonly from: number;
  readonly to: number;
  readonly correct?: boolean;
}

/** `mp network audit` */
export function defineAudit(noun: CliCommand): void {
  const height = integerFrom(0, HEIGHT_MAXIMUM);
  noun
    .verb('audit', 'scan final blocks through another node and hold them against the ledger')
    .argument('<id>', 'network ID, for example eth-usdt')
    .requiredOption('--from <block>', 'first block', height)
    .requiredOption('--to <block>', `last block; at most ${RESCAN_MAXIMUM} in all`, height)
    .option('--correct', 'record final deposits that no payment took as the node shows them')
    .onDatabase(async (session, id: string, { from, to, correct, json }: Flags) => {
      const blocks = { from, to, corrects: correct === true };
      const audit = await withProgress(noun.terminal, 'mp network audit', report =>
        auditNetwork(session, toolsOf(session), id, blocks, report),
      );
      const differences = audit.differences.map(({ amount, ...difference }) => ({
        ...difference,
        amount: amount.toString(),
      }));
      if (json) return session.show({ ...audit, differences });
      const { blockchainId, node, role, transfers, corrected } = audit;
      session.show({ blockchainId, from, to, node, role, transfers, corrected });
      session.showList(
        differences,
        ['kind', 'transactionHash', 'position', 'address', 'amount', 'height', 'detail'],
        differences.length === 0
          ? 'Chain and ledger agree.'
          : 'Each is a finding now: mp finding list',
      );
    });
}
