import { REQUEST_VECTORS } from './requests.ts';
import { WEBHOOK_VECTORS } from './webhooks.ts';

export type { RequestVector } from './requests.ts';
export type { WebhookVector } from './webhooks.ts';

/**
 * Examples of signatures that any implementation can be held against: what it is given, and what has to come of
 * that. They are made by the functions that sign and verify here. The service serves them, and `mp conformance`
 * and the tests of the libraries in `clients/` go through them.
 */
export const SIGNING_VECTORS = { requests: REQUEST_VECTORS, webhooks: WEBHOOK_VECTORS } as const;
