import type { Config } from '#config/config.ts';
import type { Keyring } from '#crypto/keyring.ts';
import type { Clock } from '#time/clock.ts';
import type { Processor } from '../processor.ts';
import { guardProcessor } from './guard-processor.ts';
import { createSandboxProcessor, type SandboxProcessor } from './sandbox-processor.ts';

export type OpenProcessor = SandboxProcessor | (Processor & { readonly name: 'stripe' });

/** Creates the processor selected by the configuration; null if US accounts cannot be served. */
export async function openProcessor(
  { processor, publicUrl, databasePoolSize }: Config,
  keyring: Keyring,
  clock: Clock,
): Promise<OpenProcessor | null> {
  switch (processor?.name) {
    case 'sandbox':
      return createSandboxProcessor(keyring, publicUrl);
    case 'stripe': {
      // Imported only if it is used: its package adds a tenth of a second to each start.
      const { createStripeProcessor } = await import('./stripe-processor.ts');
      return guardProcessor(createStripeProcessor(processor, publicUrl), {
        clock,
        poolSize: databasePoolSize,
      });
    }
    default:
      return null;
  }
}
