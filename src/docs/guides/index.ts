import { CHECKOUT } from './checkout.ts';
import type { Guide } from './guide.ts';
import { IDEMPOTENCY } from './idempotency.ts';
import { OLDER_CONTRACT } from './older-contract.ts';
import { PAGING } from './paging.ts';
import { PARTNERS } from './partners.ts';
import { QUICKSTART } from './quickstart.ts';
import { SIGNING } from './signing.ts';
import { US_ACCOUNTS } from './us-accounts.ts';
import { WEBHOOKS } from './webhooks.ts';

/** Every guide, in the order in which they are read. */
export const GUIDES: readonly Guide[] = [
  QUICKSTART,
  SIGNING,
  IDEMPOTENCY,
  PAGING,
  WEBHOOKS,
  CHECKOUT,
  US_ACCOUNTS,
  PARTNERS,
  OLDER_CONTRACT,
];
