import type { Command } from 'commander';
import {
  ADDRESSES_MAXIMUM,
  addAddress,
  listAddresses,
  removeAddress,
  setAddress,
} from '../../accounts/deposit-addresses.ts';
import { printList, printObject } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import { addVerb, type JsonFlag, parseId } from '../values.ts';
import { withSession } from './session.ts';

interface OwnerFlags extends JsonFlag {
  readonly merchant: string;
  readonly branch?: string;
}

interface NetworkFlags extends OwnerFlags {
  readonly blockchain: string;
}

interface AddressFlags extends NetworkFlags {
  readonly address: string;
}

const CHANGES = [
  {
    verb: 'set',
    description: 'set the only deposit address on a network',
    change: setAddress,
  },
  {
    verb: 'add',
    description: `add a deposit address on a network, at most ${ADDRESSES_MAXIMUM}`,
    change: addAddress,
  },
];

/** `mp address set | add | remove | list` */
export function define(noun: Command, terminal: Terminal): void {
  for (const { verb, description, change } of CHANGES) {
    addOwner(addVerb(noun, verb, description))
      .requiredOption('--blockchain <id>', 'network ID, for example btc')
      .requiredOption('--address <address>', 'address on that network; its checksum is verified')
      .action(({ blockchain, address, ...flags }: AddressFlags) =>
        withSession(terminal, async session => {
          const changed = await change(session, ownerOf(flags), blockchain, address);
          printObject(terminal, flags, changed);
        }),
      );
  }

  addOwner(addVerb(noun, 'remove', 'remove a deposit address on a network'))
    .requiredOption('--blockchain <id>', 'network ID, for example btc')
    .option('--address <address>', 'which address (default: the only one)')
    .action(({ blockchain, address, ...flags }: Partial<AddressFlags> & NetworkFlags) =>
      withSession(terminal, async session => {
        const removed = await removeAddress(session, ownerOf(flags), blockchain, address);
        printObject(terminal, flags, removed, 'Removed.');
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
