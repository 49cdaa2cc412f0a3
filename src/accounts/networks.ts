import { untilHeard } from '#storage/database/change-feed.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Network } from '#storage/database/network-tables.ts';
import {
  hasShippedTestNetworks,
  lockShippedTestNetworks,
  updateNetwork,
} from '#storage/repositories/chains/networks.ts';
import { audited, columnsToSet, OperationRefused, type Operator } from './audit/audited-change.ts';

/** Longest payment window: a day, in minutes. */
export const WINDOW_MINUTES_MAXIMUM = 1440;

/** What operators may change of a network; undefined leaves a setting as it is. */
export interface NetworkChange {
  /** Whether it is offered to the customers of all merchants. */
  readonly active?: boolean | undefined;
  readonly windowMinutes?: number | undefined;
  /** Canonical spelling of the token's contract. */
  readonly contract?: string | undefined;
  /** When transfers are final; null for the chain's default rule. */
  readonly finality?: string | null | undefined;
  /** As `parseExplorer` gives it; null for none. */
  readonly explorer?: string | null | undefined;
  /** The least that payers are asked for, in the asset's smallest unit; null for the chain's own minimum. */
  readonly leastAmount?: bigint | null | undefined;
}

/**
 * Changes a network for all merchants. The contract and the finality rule are not checked here.
 * @throws OperationRefused for an unknown network, or when nothing is to be set.
 */
export function setNetwork(
  operator: Operator,
  id: string,
  change: NetworkChange,
): Promise<Network> {
  const columns = columnsToSet({
    is_active: change.active,
    window_minutes: change.windowMinutes,
    contract: change.contract,
    finality: change.finality,
    explorer: change.explorer,
    least_amount: change.leastAmount?.toString() ?? change.leastAmount,
  });
  return audited(operator, 'network.set', async (tx, now) => {
    const switched = change.active === undefined ? {} : { switched_at: now };
    const network = await updateNetwork(tx, id, { ...columns, ...switched });
    if (network === undefined) throw new OperationRefused('network-unknown', { blockchainId: id });
    return { result: network, objectId: id, detail: columns };
  });
}

/**
 * Switches off test networks that are active only because they are shipped active, as production requires:
 * their coins have no value. Those that an operator has switched on stay on.
 * @returns The IDs of those switched off.
 */
export async function switchOffTestNetworks(
  operator: Operator & { readonly db: Database },
): Promise<string[]> {
  // Read first, so that a process that may not write for now still starts.
  if (!(await hasShippedTestNetworks(operator.db))) return [];
  const ids = await operator.db.transaction().execute(async tx => {
    const shipped = await lockShippedTestNetworks(tx);
    for (const { id } of shipped) await setNetwork({ ...operator, db: tx }, id, { active: false });
    return shipped.map(({ id }) => id);
  });
  if (ids.length > 0) await untilHeard(operator.db);
  return ids;
}
