import type { Finding } from '#storage/database/watching-tables.ts';
import type { OmissionKind } from './omission.ts';
import type { PlayedChain } from './play.ts';
import type { PlacedTransfer } from './rules.ts';
import type { World } from './world.ts';

/** Kinds of findings that hold the payments of their address, and `disagreement` between two nodes. */
export const HOLDING: readonly string[] = ['unexplained_inflow', 'unreadable', 'disagreement'];
/** Omissions that keep a deposit from being final while any node has them: each node has to confirm the deposit. */
const CONFIRMED_BY_ALL: readonly OmissionKind[] = ['log of receipt', 'log everywhere', 'receipt'];

/** Whether a finding is about what a node has left out. */
export function isOfOmission(
  { chain }: PlayedChain,
  { kind, blockchain_id: network, address }: Finding,
): boolean {
  const transfers = chain.leftOut?.transfers ?? [];
  const isThere = transfers.some(each => each.network === network && each.address === address);
  return chain.hasLeftOut && isThere && HOLDING.includes(kind);
}

/**
 * Whether a finding is right to hold payments forever. If a part has come, a dust transfer that was left out may be
 * the rest, and becomes no deposit that explains the finding when it is shown.
 */
export function mayHold(played: PlayedChain, finding: Finding): boolean {
  const { omission, acts } = played.world;
  const isOpen = finding.resolved_at === null;
  const isPart = acts.some(act => act.kind === 'pay' && act.amount === 'half');
  const isDust = omission?.act.kind === 'pay' && omission.act.amount === 'dust';
  const isLasting = isNeverShown(played.world) || (isDust && isPart);
  return isOpen && isOfOmission(played, finding) && isLasting;
}

/** Whether a finding is about a transfer that was reversed because no node shows it any more. */
export function tellsOfUndone({ chain, world }: PlayedChain, finding: Finding): boolean {
  const isOpen = finding.kind === 'corrected' && finding.resolved_at === null;
  return isOpen && finding.transaction_hash === chain.leftOut?.hash && isNeverShown(world);
}

/**
 * Whether a lie may have hidden an omitted transfer in the balance: an amount that was reported as twice as high
 * exceeds the real one by as much as another payment of the same price. The finding that corrects the lie names the
 * address of both.
 */
export function mayHide(
  { chain }: PlayedChain,
  { network, address, amount, transaction }: PlacedTransfer,
  finding: Finding,
): boolean {
  const isOpen = finding.kind === 'corrected' && finding.resolved_at === null;
  const isThere = finding.blockchain_id === network && finding.address === address;
  const lie = [...chain.lied].find(({ hash }) => hash === finding.transaction_hash);
  const isAsMuch = lie?.transfers.some(
    each => each.network === network && each.address === address && each.amount === amount,
  );
  return isOpen && isThere && transaction === chain.leftOut && isAsMuch === true;
}

/** Whether the check node never shows what it has to confirm. That is no finding, but it is reported. */
export function isConfirmedNever(world: World): boolean {
  return world.omission?.role === 'check' && isNeverShown(world);
}

/** Whether no node ever shows what is needed to credit a transfer. */
function isNeverShown({ omission, hasCheck, slot }: World): boolean {
  if (omission === null || omission.lastsMs !== Number.POSITIVE_INFINITY) return false;
  const isOfSolana = slot.family === 'solana' && omission.kind === 'transaction';
  return !hasCheck || isOfSolana || CONFIRMED_BY_ALL.includes(omission.kind);
}
