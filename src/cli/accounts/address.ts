import { AddressTaken, heldUntil } from '#accounts/address-holders.ts';
import { ADDRESSES_MAXIMUM } from '#accounts/allowed-addresses.ts';
import {
  addAddress,
  listAddresses,
  removeAddress,
  setAddress,
  setWallet,
} from '#accounts/deposit-addresses.ts';
import { releaseAddress } from '#accounts/release-address.ts';
import type { WalletUse } from '#storage/repositories/accounts/wallet-addresses.ts';
import type { CliCommand } from '../cli-command.ts';
import { readSecretFlag } from '../named-file.ts';
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

interface SetFlags extends OwnerFlags {
  readonly blockchain: string;
  readonly address?: string;
  readonly shared?: string;
  readonly wallet?: string;
  readonly next?: string;
}

const TAKEN =
  '\nExit status 1 for an address that another merchant has, on any chain of the same family.';
const SHARED = [
  '--shared <merchant>',
  'ID of another merchant that has it, where both are of one owner: nobody but operators sees what no payment takes there',
] as const;

/** `mp address set | add | remove | release | list` */
export function define(noun: CliCommand): void {
  const verb = (name: string, description: string) =>
    noun
      .verb(name, description)
      .requiredOption('--merchant <id>', 'merchant ID', parseId)
      .option('--branch <id>', 'branch ID (default: the main branch)', parseId);

  verb(
    'set',
    'set the only deposit address on a network, or a wallet that has one for each payment',
  )
    .requiredOption('--blockchain <id>', 'network ID, for example btc')
    .option('--address <address>', 'address on that network; its checksum is verified')
    .option(...SHARED, parseId)
    .option(
      '--wallet <key|@file>',
      'extended public key or output descriptor of a Bitcoin wallet, or the file that holds it',
    )
    .option('--next <address>', 'the next unused receiving address that the wallet shows')
    .addHelpText('after', `\nGive --address, or --wallet and --next.${TAKEN}`)
    .onDatabase(async (session, flags: SetFlags, command: CliCommand) => {
      const { blockchain, address, shared, wallet, next } = flags;
      const isWallet = wallet !== undefined && next !== undefined;
      if ((address === undefined) !== isWallet || (isWallet && shared !== undefined)) {
        command.error('error: give either --address, or --wallet and --next');
      }
      const changed = isWallet
        ? setWallet(session, ownerOf(flags), blockchain, {
            key: await readSecretFlag(wallet, 'The key'),
            next,
          })
        : setAddress(session, ownerOf(flags), blockchain, address ?? '', shared);
      session.show(await changed.catch(error => refuse(error, new Date(session.clock()))));
    });

  verb('add', `add a deposit address on a network, at most ${ADDRESSES_MAXIMUM}`)
    .requiredOption('--blockchain <id>', 'network ID, for example btc')
    .requiredOption('--address <address>', 'address on that network; its checksum is verified')
    .option(...SHARED, parseId)
    .addHelpText('after', TAKEN)
    .onDatabase(async (session, { blockchain, address, shared, ...flags }: AddressFlags) => {
      const changed = addAddress(session, ownerOf(flags), blockchain, address, shared);
      session.show(await changed.catch(error => refuse(error, new Date(session.clock()))));
    });

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

  verb('list', 'list the deposit addresses of a branch, and how its wallet stands').onDatabase(
    async ({ db, clock, showList }, flags: OwnerFlags) => {
      const listed = await listAddresses(db, ownerOf(flags), new Date(clock()));
      const notes = listed.flatMap(({ blockchainId, wallet }) =>
        wallet === null ? [] : [`${blockchainId}: ${walletLine(wallet)}`],
      );
      showList(listed, ['blockchainId', 'address'], notes.join('\n') || undefined);
    },
  );
}

/** How a wallet stands, on one line. */
function walletLine({ kind, fingerprint, out, funded, gap, gapMaximum, nextIndex }: WalletUse) {
  return `wallet ${fingerprint} (${kind}), next index ${nextIndex}, ${out} out to open payments, ${funded} funded, ${gap} of at most ${gapMaximum} asked for behind the last funded one`;
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
    `The ${error.isWallet ? 'wallet' : 'address'} is not free: ${holders.join('; ')}. If it is merchant ${wanting}'s alone, ${first?.isInForce === true ? 'remove it there, then ' : ''}${release}.${error.isWallet ? '' : ` If both are of one owner, repeat the command with --shared ${first?.merchantId}.`}`,
  );
}
