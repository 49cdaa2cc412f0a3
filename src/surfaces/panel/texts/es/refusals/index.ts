import type { Refusals } from '#errors/refusals/refused.ts';
import { accounts } from './accounts.ts';
import { addresses } from './addresses.ts';
import { payments } from './payments.ts';
import { people } from './people.ts';
import { webhooks } from './webhooks.ts';

/** Why operations are refused. */
export const refusals: Refusals = {
  ...accounts,
  ...addresses,
  ...payments,
  ...people,
  ...webhooks,
};
