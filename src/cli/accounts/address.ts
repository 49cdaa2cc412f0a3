import { AddressTaken, heldUntil } from '#accounts/address-holders.ts';
import {
  ADDRESSES_MAXIMUM,
  addAddress,
  listAddresses,
  removeAddress,
  setAddress,
} from '#accounts/deposit-addresses.ts';
import { releaseAddress } from '#accounts/release-address.ts';
import type { CliCommand } from '../cli-command.ts';
import { CommandFailed } from '../terminal.ts';
import { parseId } from '../values.ts';

interface OwnerFlags {
  readonly merchant: string;
  readonly branch?: string;
}

interface AddressFlags extends OwnerFlags {
  readonly blockchain: string;
  readonly address: string;
  readonly shared?: string;
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

/** `mp address set | add | remove | release | list` */
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
      .option(
        '--shared <merchant>',
        'ID of another merchant that has it, where both are of one owner: nobody but operators sees what no payment takes there',
        parseId,
      )
      .addHelpText(
        'after',
        '\nExit status 1 for an address that another merchant has, on any chain of the same family.',
      )
      .onDatabase(async (session, { blockchain, address, shared, ...flags }: AddressFlags) => {
        const { clock } = session;
        const changed = change(session, ownerOf(flags), blockchain, address, shared);
        session.show(await changed.catch(error => refuse(error, new Date(clock()))));
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

  noun
    .verb(
      'release',
      'free an address that was removed, which else stays its merchant’s for a while',
    )
    .requiredOption('--merchant <id>', 'ID of the merchant that had it', parseId)
    .requiredOption('--blockchain <id>', 'network ID; it is freed on all chains of the family')
    .requiredOption('--address <address>', 'address on that network')
    .onDatabase(async (session, { merchant, blockchain, address }: AddressFlags) => {
      const wanted = { merchantId: merchant, blockchainId: blockchain, address };
      session.show(await releaseAddress(session, wanted), 'Released.');
    });

  verb('list', 'list the deposit addresses of a branch').onDatabase(
    async ({ db, showList }, flags: OwnerFlags) => {
      showList(await listAddresses(db, ownerOf(flags)), ['blockchainId', 'address']);
    },
  );
}

function ownerOf({ merchant: merchantId, branch: branchId }: OwnerFlags) {
  return { merchantId, branchId };
}

/** Tells the operator, who may know, which merchant has an address. */
function refuse(error: unknown, now: Date): never {
  if (!(error instanceof AddressTaken)) throw error;
  const { merchantId: wanting, blockchainId, address } = error.wanted;
  const holders = error.holders.map(holder => {
    const until = heldUntil(holder, now);
    const { merchantId } = holder;
    if (holder.isInForce) return `merchant ${merchantId} has it`;
    if (until === null) return `merchant ${merchantId} had it, and open payments show it`;
    return `merchant ${merchantId} had it, and keeps it until ${until.toISOString()}`;
  });
  const [first] = error.holders;
  const where = `--blockchain ${blockchainId} --address ${address}`;
  const release = `mp address release --merchant ${first?.merchantId} ${where}`;
  throw new CommandFailed(
    `The address is not free: ${holders.join('; ')}. If it is merchant ${wanting}'s alone, ${first?.isInForce === true ? 'remove it there, then ' : ''}${release}. If both are of one owner, repeat the command with --shared ${first?.merchantId}.`,
  );
}
