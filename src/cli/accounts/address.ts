import {
  ADDRESSES_MAXIMUM,
  addAddress,
  listAddresses,
  removeAddress,
  setAddress,
} from '../../accounts/deposit-addresses.ts';
import type { CliCommand } from '../cli-command.ts';
import { parseId } from '../values.ts';

interface OwnerFlags {
  readonly merchant: string;
  readonly branch?: string;
}

interface AddressFlags extends OwnerFlags {
  readonly blockchain: string;
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
export function define(noun: CliCommand): void {
  const verb = (name: string, description: string) =>
    noun
      .verb(name, description)
      .requiredOption('--merchant <id>', 'merchant ID', parseId)
      .option('--branch <id>', 'branch ID (default: the main branch)', parseId);

  for (const { verb: name, description, change } of CHANGES) {
    verb(name, description)
      .requiredOption('--blockchain <id>', 'network ID, for example btc')
      .requiredOption('--address <address>', 'address on that network; its checksum is verified')
      .onDatabase(async (session, { blockchain, address, ...flags }: AddressFlags) => {
        session.show(await change(session, ownerOf(flags), blockchain, address));
      });
  }

  verb('remove', 'remove a deposit address on a network')
    .requiredOption('--blockchain <id>', 'network ID, for example btc')
    .option('--address <address>', 'which address (default: the only one)')
    .onDatabase(
      async (
        session,
        { blockchain, address, ...flags }: Omit<AddressFlags, 'address'> & { address?: string },
      ) => {
        const removed = await removeAddress(session, ownerOf(flags), blockchain, address);
        session.show(removed, 'Removed.');
      },
    );

  verb('list', 'list the deposit addresses of a branch').onDatabase(
    async ({ db, showList }, flags: OwnerFlags) => {
      showList(await listAddresses(db, ownerOf(flags)), ['blockchainId', 'address']);
    },
  );
}

function ownerOf({ merchant: merchantId, branch: branchId }: OwnerFlags) {
  return { merchantId, branchId };
}
