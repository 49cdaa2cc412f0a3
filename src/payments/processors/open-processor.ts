import type { Config } from '#config/config.ts';
import type { Keyring } from '#crypto/keyring.ts';
import type { Clock } from '#time/clock.ts';
import type { Processor } from '../processor.ts';
import { guardProcessor } from './guard-processor.ts';
import { createSandboxProcessor, type SandboxProcessor } from './sandbox-processor.ts';

type OpenProcessor = SandboxProcessor | (Processor & { readonly name: 'stripe' });

/** The processors of a service. */
export interface Processors {
  /** Of live merchants; null if their US accounts cannot be served. */
  readonly processor: OpenProcessor | null;
  /** Of test merchants, on every service. */
  readonly sandbox: SandboxProcessor;
}

export async function openProcessors(
  config: Config,
  keyring: Keyring,
  clock: Clock,
): Promise<Processors> {
  const sandbox = createSandboxProcessor(keyring, config.publicUrl);
  return { processor: await openProcessor(config, sandbox, clock), sandbox };
}

/** The processor of a payment or notification, by its name; null for none that the service has. */
export function processorNamed(
  { processor, sandbox }: { readonly processor: Processor | null; readonly sandbox: Processor },
  name: string | null,
): Processor | null {
  return [processor, sandbox].find(each => each?.name === name) ?? null;
}

async function openProcessor(
  { processor, publicUrl, databasePoolSize }: Config,
  sandbox: SandboxProcessor,
  clock: Clock,
): Promise<OpenProcessor | null> {
  switch (processor?.name) {
    case 'sandbox':
      return sandbox;
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
