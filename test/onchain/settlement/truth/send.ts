import type { ObservedTransfer } from '#onchain/settlement/observed-transfer.ts';
import { CHAINS, type NetworkId, SIMULATED } from './course.ts';
import type { Amount, History, Report } from './history.ts';
import type { Played, Sent, Taken } from './played.ts';
import { ASSETS } from './quote-rules.ts';
import { addressOf } from './stage.ts';

/** The rests that payments wait for, by payment ID. */
export type Rests = ReadonlyMap<string, bigint>;

/** What a customer sends to whom nothing was quoted. */
const OUT_OF_THE_BLUE = 1_234_567n;

/** The transfer as it is sent. Its amount depends on what its payment asks for when it is first reported. */
export function resolve(played: Played, transfer: number, rests: Rests): Sent {
  const before = played.sent[transfer];
  if (before !== undefined) return before;
  const { history, payments, quotes } = played;
  const drawn = history.transfers[transfer];
  if (drawn === undefined) throw new RangeError(`there is no transfer ${transfer}`);
  const id = payments[drawn.payment]?.id ?? '';
  const quote = quotes.get(id);
  const place = drawn.astray ? 1 % history.addresses : 0;
  const sent: Sent = {
    ...drawn,
    hash: `${history.seed}-${drawn.hash}`,
    network: quote?.network ?? history.network,
    address: drawn.astray || quote === undefined ? addressOf(history.seed, place) : quote.address,
    tokenAmount:
      quote === undefined ? OUT_OF_THE_BLUE : amountOf(drawn.amount, quote, rests.get(id), history),
  };
  played.sent[transfer] = sent;
  return sent;
}

function amountOf(
  amount: Amount,
  { network, amount: asked }: { readonly network: NetworkId; readonly amount: bigint },
  rest: bigint | undefined,
  { toleranceBps }: History,
): bigint {
  const most = (asked * BigInt(toleranceBps)) / 10_000n;
  switch (amount) {
    case 'exact':
      return asked;
    case 'half':
      return asked / 2n;
    case 'most':
      return (asked * 9n) / 10n;
    // A customer who was not told the rest sends the other half.
    case 'rest':
      return rest ?? asked - asked / 2n;
    case 'bit over':
      return asked + asked / 100n;
    case 'just over':
      return asked + asked / 50n;
    case 'too much':
      return asked + asked / 50n + 1n;
    case 'dust':
      return asked / 200n;
    case 'least tolerated':
      return asked - most;
    case 'less than tolerated':
      return asked - most - 1n;
    case 'one unit off':
      return asked - 1n;
    case 'cut':
      return cut(asked, unitOf(network));
    case 'cut to little':
      return cut(asked, unitOf(network) * 100n);
    case 'rounded':
      return cut(asked + unitOf(network) / 2n, unitOf(network));
    case 'rest cut':
      return cut(rest ?? asked - asked / 2n, unitOf(network));
  }
}

/** The unit of a wallet that keeps two decimals fewer than quotes at least have. */
function unitOf(network: NetworkId): bigint {
  return ASSETS[network].steps[0] * 100n;
}

/** The amount that a wallet sends which cuts decimals off; uncut if nothing would be left. */
function cut(asked: bigint, unit: bigint): bigint {
  return asked < unit ? asked : asked - (asked % unit);
}

/** A report in the form that settlement takes, and in that of the ledger. */
export function reportOf(
  { history }: Played,
  sent: Sent,
  { transfer, finality, block }: Report,
  at: number,
): { readonly observed: ObservedTransfer; readonly taken: Taken } {
  const { network, hash, position, address, tokenAmount, occurredAt, earliestAt } = sent;
  const isSimulated = CHAINS[history.network].chain === SIMULATED;
  const observed: ObservedTransfer = {
    blockchainId: network,
    transactionHash: hash,
    position,
    address,
    tokenAmount,
    finality,
    blockHeight: block,
    blockHash: block === null ? null : `block-${block}`,
    occurredAt: new Date(occurredAt),
    earliestAt: new Date(earliestAt),
    source: isSimulated ? 'simulation' : 'chain',
  };
  const key = `${hash} ${position}`;
  const times = { occurredAt, earliestAt };
  const isInBlock = block !== null;
  const own = { key, network, address, amount: tokenAmount, finality, isInBlock, ...times };
  return {
    observed,
    taken: {
      text: `transfer ${transfer} (${key}) of ${tokenAmount} to ${address} is ${finality}${isInBlock ? '' : ' in no block'}, made ${clock(sent.madeAt)}, known ${clock(earliestAt)} to ${clock(occurredAt)}`,
      repeat: ledger => ledger.observe({ ...own, isSimulated }, at),
    },
  };
}

/** A moment, for humans. */
export function clock(at: number): string {
  return new Date(at).toISOString().slice(8, 19).replace('T', ' ');
}
