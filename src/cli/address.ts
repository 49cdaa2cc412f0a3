import type { Command } from 'commander';
import { listAddresses, removeAddress, setAddress } from '../accounts/deposit-addresses.ts';
import { printList, printObject } from './print.ts';
import { withSession } from './session.ts';
import type { Terminal } from './terminal.ts';
import { addVerb, type JsonFlag, parseId } from './values.ts';

interface OwnerFlags extends JsonFlag {
  readonly merchant: string;
  readonly branch?: string;
}

interface NetworkFlags extends OwnerFlags {
  readonly blockchain: string;
}

/** `mp address set | remove | list` */
export function define(noun: Command, terminal: Terminal): void {
  addOwner(addVerb(noun, 'set', 'set the deposit address on a network'))
    .requiredOption('--blockchain <id>', 'network ID, for example btc')
    .requiredOption('--address <address>', 'address on that network; its checksum is verified')
    .action((flags: NetworkFlags & { address: string }) =>
      withSession(terminal, async session => {
        const { blockchain, address } = flags;
        printObject(
          terminal,
          flags,
          await setAddress(session, ownerOf(flags), blockchain, address),
        );
      }),
    );

  addOwner(addVerb(noun, 'remove', 'remove the deposit address on a network'))
    .requiredOption('--blockchain <id>', 'network ID, for example btc')
    .action((flags: NetworkFlags) =>
      withSession(terminal, async session => {
        printObject(
          terminal,
          flags,
          await removeAddress(session, ownerOf(flags), flags.blockchain),
          'Removed.',
        );
      }),
    );

  addOwner(addVerb(noun, 'list', 'list the deposit addresses of a branch')).action(
    (flags: OwnerFlags) =>
      withSession(terminal, async ({ db }) => {
        const addresses = await listAddresses(db, ownerOf(flags));
        printList(terminal, flags, addresses, ['blockchainId', 'address']);
      }),
  );
}

function addOwner(command: Command): Command {
  return command
    .requiredOption('--merchant <id>', 'merchant ID', parseId)
    .option('--branch <id>', 'branch ID (default: the main branch)', parseId);
}

function ownerOf({ merchant: merchantId, branch: branchId }: OwnerFlags) {
  return { merchantId, branchId };
}
