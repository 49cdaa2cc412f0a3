import type { Finding } from '#storage/database/watching-tables.ts';
import type { OmissionKind } from './omission.ts';
import type { PlayedChain } from './play.ts';
import type { PlacedTransfer } from './rules.ts';
import type { World } from './world.ts';

/** Kinds of findings that hold the payments of their address, and what two nodes contradict each other about. */
export const HOLDING: readonly string[] = ['unexplained_inflow', 'unreadable', 'disagreement'];
/** Kinds that keep a deposit from being final as long as any node leaves them out: each node has to confirm it. */
const CONFIRMED_BY_ALL: readonly OmissionKind[] = ['log of receipt', 'log everywhere', 'receipt'];

/** Whether a finding is of what a node has left out. */
export function isOfOmission(
  { chain }: PlayedChain,
  { kind, blockchain_id: network, address }: Finding,
): boolean {
  const transfers = chain.leftOut?.transfers ?? [];
  const isThere = transfers.some(each => each.network === network && each.address === address);
  return chain.hasLeftOut && isThere && HOLDING.includes(kind);
}

/**
 * Whether a finding holds payments for ever, and rightly. Where a part has come, dust that is missed may be the rest, and is
 * no deposit that explains the finding when it is shown.
 */
export function mayHold(played: PlayedChain, finding: Finding): boolean {
  const { omission, acts } = played.world;
  const isOpen = finding.resolved_at === null;
  const isPart = acts.some(act => act.kind === 'pay' && act.amount === 'half');
  const isDust = omission?.act.kind === 'pay' && omission.act.amount === 'dust';
  const isLasting = isNeverShown(played.world) || (isDust && isPart);
  return isOpen && isOfOmission(played, finding) && isLasting;
}

/** Whether a finding tells of a transfer that was undone, since no node shows any more what has once been shown. */
export function tellsOfUndone({ chain, world }: PlayedChain, finding: Finding): boolean {
  const isOpen = finding.kind === 'corrected' && finding.resolved_at === null;
  return isOpen && finding.transaction_hash === chain.leftOut?.hash && isNeverShown(world);
}

/**
 * Whether a lie may have hidden from the balance a transfer that was left out: an amount that was told twice as high is as
 * much as another payment of the same price. The finding that corrects it says so at the address of both.
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

/** Whether the check node never shows what it has to confirm, which is no finding: its silence is told. */
export function isConfirmedNever(world: World): boolean {
  return world.omission?.role === 'check' && isNeverShown(world);
}

/** Whether no node ever shows what it takes to credit a transfer. */
function isNeverShown({ omission, hasCheck, slot }: World): boolean {
  if (omission === null || omission.lastsMs !== Number.POSITIVE_INFINITY) return false;
  const isOfSolana = slot.family === 'solana' && omission.kind === 'transaction';
  return !hasCheck || isOfSolana || CONFIRMED_BY_ALL.includes(omission.kind);
}
