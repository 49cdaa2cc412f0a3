import type { Config } from '../config/config.ts';
import type { Keyring } from '../crypto/keyring.ts';
import type { Processor } from '../payments/processor.ts';
import type { Clock } from '../time/clock.ts';
import { guardProcessor } from './guard-processor.ts';
import { createSandboxProcessor, type SandboxProcessor } from './sandbox-processor.ts';
import { createStripeProcessor } from './stripe-processor.ts';

export type OpenProcessor = SandboxProcessor | (Processor & { readonly name: 'stripe' });

/** Creates the processor selected by the configuration; null if US accounts cannot be served. */
export function openProcessor(
  { processor, publicUrl, databasePoolSize }: Config,
  keyring: Keyring,
  clock: Clock,
): OpenProcessor | null {
  switch (processor?.name) {
    case 'sandbox':
      return createSandboxProcessor(keyring, publicUrl);
    case 'stripe':
      return guardProcessor(createStripeProcessor(processor, publicUrl), {
        clock,
        poolSize: databasePoolSize,
      });
    default:
      return null;
  }
}
