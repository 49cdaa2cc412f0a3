import type { ApiError } from '../errors/api-error.ts';
import type { ErrorCode } from '../errors/catalogue.ts';
import { AddressesMissing } from '../payments/offered-networks.ts';
import { MainBranchMissing } from '../payments/payee.ts';
import { type LegacyReason, LegacyRefusal } from './refusal.ts';

/** What the service refuses in its own terms, in those of the older contract. */
export const REASONS: Partial<Record<ErrorCode, LegacyReason>> = {
  E1000: 'requestInvalid',
  E1010: 'noRedirectDomains',
  E1011: 'redirectUrlInvalid',
  E1012: 'redirectDomainNotAllowed',
  E1030: 'noProcessor',
  E2008: 'merchantInactive',
  E2102: 'onboardingIncomplete',
  E2103: 'selfServiceOff',
  E3001: 'routeMissing',
  E5002: 'unavailable',
  E9001: 'tooManyRequests',
};

/** Whose own text adds something to the message. */
const EXPLAINED: readonly LegacyReason[] = [
  'requestInvalid',
  'redirectUrlInvalid',
  'redirectDomainNotAllowed',
  'routeMissing',
  'tooManyRequests',
];

/** Puts a refusal of the service into the older contract's words; what it does not know is a 500. */
export function toLegacyRefusal(error: ApiError): LegacyRefusal {
  const { retryAfterSeconds } = error;
  if (error instanceof AddressesMissing) {
    if (error.none) return new LegacyRefusal('noPaymentAddresses');
    return new LegacyRefusal('paymentAddressesMissing', { detail: error.blockchainIds.join(', ') });
  }
  if (error instanceof MainBranchMissing) return new LegacyRefusal('mainBranchMissing');
  const reason = REASONS[error.errorCode] ?? 'internal';
  const detail = EXPLAINED.includes(reason) ? error.message : undefined;
  return new LegacyRefusal(reason, { detail, retryAfterSeconds, cause: error });
}
