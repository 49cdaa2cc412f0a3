import { type Dependent, dependenciesOf, isKin } from '../../chains/dependent.ts';
import type { UnsettledDeposit } from '../../repositories/deposits/watched-deposits.ts';

/** Every output on which deposits depend that are in no block (Bitcoin). */
export function spendingOf(deposits: readonly UnsettledDeposit[]): ReadonlySet<string> {
  return new Set(deposits.flatMap(deposit => dependenciesOf(toDependent(deposit))));
}

/**
 * The deposits that a block undoes, since it spends otherwise what they depend on.
 * @param spentBy The transaction that spends each output in a block.
 */
export function findConflicts(
  deposits: readonly UnsettledDeposit[],
  spentBy: ReadonlyMap<string, string>,
): UnsettledDeposit[] {
  return deposits.filter(deposit => {
    const dependent = toDependent(deposit);
    const spenders = dependenciesOf(dependent).flatMap(output => spentBy.get(output) ?? []);
    return spenders.some(spender => !isKin(spender, dependent));
  });
}

function toDependent({ transaction_hash: id, inputs, ancestry }: UnsettledDeposit): Dependent {
  return { id, inputs, ancestry };
}
