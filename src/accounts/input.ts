export const KEY_ID = /^mpk_[0-9a-f]{24}$/;
/** In characters. */
export const NAME_MAXIMUM = 200;
/** Longest address that SMTP can deliver to, in characters (RFC 5321: a path without its brackets). */
export const EMAIL_MAXIMUM = 254;
const EMAIL =
  /^[^\s@\p{Cc}"(),:;<>[\]\\]{1,64}@([\p{L}\p{N}]([\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,}$/u;
/** Characters that move the cursor or break a line. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Whether two e-mails differ at most in case, which nobody's sign-in depends on. */
export function isSameEmail(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

// Parse what people type into a command or a form. Each returns undefined for input that is not accepted.

/** A name or a note: 1 to NAME_MAXIMUM characters on one line, not all blank. */
export function parseName(text: string): string | undefined {
  const length = [...text].length;
  const isName = text.trim() !== '' && length <= NAME_MAXIMUM && !UNPRINTABLE.test(text);
  return isName ? text : undefined;
}

export function parseEmail(text: string): string | undefined {
  return text.length <= EMAIL_MAXIMUM && EMAIL.test(text) ? text : undefined;
}

/**
 * A contact for payers: an e-mail address, or an https URL without user info, at most
 * EMAIL_MAXIMUM characters.
 */
export function parseContact(text: string): string | undefined {
  if (!text.startsWith('https://')) return parseEmail(text);
  const url = URL.parse(text);
  const isPlain = url !== null && url.username === '' && url.password === '' && !/\s/.test(text);
  return isPlain && url.href.length <= EMAIL_MAXIMUM ? url.href : undefined;
}

/** A colour as `#rrggbb`, in lower case. */
export function parseColor(text: string): string | undefined {
  return /^#[0-9a-f]{6}$/i.test(text) ? text.toLowerCase() : undefined;
}

export function parseKeyId(text: string): string | undefined {
  return KEY_ID.test(text) ? text : undefined;
}
