import { REQUEST_VECTORS } from './requests.ts';
import { WEBHOOK_VECTORS } from './webhooks.ts';

export type { RequestVector } from './requests.ts';
export type { WebhookVector } from './webhooks.ts';

/**
 * Examples of signatures to test any implementation against: inputs, and the expected results. They are made
 * by the functions that sign and verify here. The service serves them; `mp conformance` and the tests of the
 * libraries in `clients/` run them.
 */
export const SIGNING_VECTORS = { requests: REQUEST_VECTORS, webhooks: WEBHOOK_VECTORS } as const;
