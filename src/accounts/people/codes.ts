import { Secret, TOTP, URI } from 'otpauth';

/** RFC 6238 with the parameters that every authenticator app supports. */
const PERIOD_SECONDS = 30;
const DIGITS = 6;
const SECRET_BYTES = 20;
const CODE = /^\d{6}$/;
const ISSUER = 'External Payments';

/** A new secret for an authenticator app, in base32. */
export function newCodeSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** Whether a text is a secret that `newCodeSecret` may have made. */
export function isCodeSecret(text: string): boolean {
  return /^[A-Z2-7]{32}$/.test(text);
}

/** The `otpauth:` URI that a QR code holds. */
export function codeUri(secret: string, email: string): string {
  return URI.stringify(totp(secret, email));
}

/**
 * The period of a code, which is the present one or the one before; undefined for a wrong code. Each period
 * must be accepted once only.
 * @param now In milliseconds.
 */
export function findCodeStep(secret: string, code: string, now: number): number | undefined {
  const digits = code.replaceAll(/\s/g, '');
  if (!CODE.test(digits)) return undefined;
  const delta = totp(secret).validate({ token: digits, timestamp: now, window: 1 });
  // A code of the next period means that the app's clock is ahead.
  if (delta === null || delta > 0) return undefined;
  return Math.floor(now / 1000 / PERIOD_SECONDS) + delta;
}

function totp(secret: string, label = ''): TOTP {
  return new TOTP({
    issuer: ISSUER,
    label,
    algorithm: 'SHA1',
    digits: DIGITS,
    period: PERIOD_SECONDS,
    secret: Secret.fromBase32(secret),
  });
}
