import type { Network } from '../database/tables.ts';
import { updateNetwork } from '../repositories/networks.ts';
import { audited, given, OperationRefused, type Operator, requireSomething } from './operation.ts';

/** Longest payment window, in minutes: a day. */
export const WINDOW_MINUTES_MAXIMUM = 1440;

/**
 * Switches a network on or off for everybody, or sets its payment window in minutes.
 * @throws OperationRefused for an unknown network, and without anything to set.
 */
export function setNetwork(
  operator: Operator,
  id: string,
  change: { active?: boolean | undefined; windowMinutes?: number | undefined },
): Promise<Network> {
  const columns = given({ is_active: change.active, window_minutes: change.windowMinutes });
  requireSomething(columns);
  return audited(operator, 'network.set', async tx => {
    const network = await updateNetwork(tx, id, columns);
    if (network === undefined) throw new OperationRefused(`There is no network ${id}.`);
    return { result: network, objectId: id, detail: columns };
  });
}
