import { ProcessorUnavailable } from '#payments/processor.ts';
import { isDatabaseUnavailable } from '#storage/database/errors.ts';

/** Whether an error means that something the service depends on is unavailable: E5002. */
export function isUnavailable(error: unknown): boolean {
  return isDatabaseUnavailable(error) || error instanceof ProcessorUnavailable;
}
