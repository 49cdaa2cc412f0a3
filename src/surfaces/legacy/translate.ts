import type { ApiError } from '#errors/api-error.ts';
import type { ErrorCode } from '#errors/catalogue.ts';
import { AddressesMissing } from '#payments/offered-networks.ts';
import { MainBranchMissing } from '#payments/payee.ts';
import { type LegacyReason, LegacyRefusal } from './refusal.ts';

/** Reasons of the older contract for error codes of v1. */
export const REASONS: Partial<Record<ErrorCode, LegacyReason>> = {
  E1000: 'requestInvalid',
  E1010: 'noRedirectDomains',
  E1011: 'redirectUrlInvalid',
  E1012: 'redirectDomainNotAllowed',
  E1030: 'noProcessor',
  E1040: 'requestInvalid',
  E2008: 'merchantInactive',
  E2102: 'onboardingIncomplete',
  E2103: 'selfServiceOff',
  E3001: 'routeMissing',
  E5002: 'unavailable',
  E9001: 'tooManyRequests',
};

/** Reasons to whose message the text of the ApiError is appended. */
const DETAILED: readonly LegacyReason[] = [
  'requestInvalid',
  'redirectUrlInvalid',
  'redirectDomainNotAllowed',
  'routeMissing',
  'tooManyRequests',
];

/** Translates an error of v1 into the older contract. A code without a reason becomes a 500. */
export function toLegacyRefusal(error: ApiError): LegacyRefusal {
  const { retryAfterSeconds } = error;
  if (error instanceof AddressesMissing) {
    if (error.none) return new LegacyRefusal('noPaymentAddresses');
    return new LegacyRefusal('paymentAddressesMissing', { detail: error.blockchainIds.join(', ') });
  }
  if (error instanceof MainBranchMissing) return new LegacyRefusal('mainBranchMissing');
  const reason = REASONS[error.errorCode] ?? 'internal';
  const detail = DETAILED.includes(reason) ? error.message : undefined;
  return new LegacyRefusal(reason, { detail, retryAfterSeconds, cause: error });
}
