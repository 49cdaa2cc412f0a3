import type { Config } from '../config/config.ts';
import type { Keyring } from '../crypto/keyring.ts';
import type { Processor } from '../payments/processor.ts';
import type { Clock } from '../time/clock.ts';
import { withBulkhead } from './bulkhead.ts';
import { withCircuit } from './circuit.ts';
import { createSandboxProcessor, type SandboxProcessor } from './sandbox-processor.ts';
import { createStripeProcessor } from './stripe-processor.ts';

/** Every processor there is. */
export type OpenProcessor = SandboxProcessor | (Processor & { readonly name: 'stripe' });

/** The processor that the configuration chooses; null where US accounts cannot be served. */
export function openProcessor(
  { processor, publicUrl, databasePoolSize }: Config,
  keyring: Keyring,
  clock: Clock,
): OpenProcessor | null {
  switch (processor?.name) {
    case 'sandbox':
      return createSandboxProcessor(keyring, publicUrl);
    case 'stripe':
      return withBulkhead(
        withCircuit(createStripeProcessor(processor, publicUrl), clock),
        databasePoolSize,
      );
    default:
      return null;
  }
}
