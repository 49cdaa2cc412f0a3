import { EXPIRING_WITHIN_MS } from '../keys/expiring-keys.ts';
import { formerPairUntil } from '../keys/former-pair.ts';
import type { KeySign } from '../repositories/accounts/attention.ts';
import { PANEL_PREFIX } from './assets.ts';
import { texts } from './texts/index.ts';

/** Something that needs a person's attention, and where to look at it. */
export interface Attention {
  readonly text: string;
  /** Without the base path. */
  readonly href: string;
}

const attentionTexts = texts.home.attention;

/** Where people look at their sign-ins. */
export const PROFILE = `${PANEL_PREFIX}/profile`;

/** How long a new key, and a sign-in from a new device, are told of. */
export const LATELY_MS = 7 * 24 * 60 * 60_000;

/**
 * What needs attention of API keys, whosever they are: new ones, those that expire, and former secrets that work still.
 * @param path Of the pages of keys, without the base path.
 */
export function describeKeys(keys: readonly KeySign[], path: string, now: Date): Attention[] {
  return keys.flatMap(key => {
    const { id, name, created_at: made, revoked_at: revoked, expires_at: expires } = key;
    if (revoked !== null || (expires !== null && expires <= now)) return [];
    const found = [];
    if (now.getTime() - made.getTime() < LATELY_MS) {
      found.push(attentionTexts.keyMade(name, day(made)));
    }
    if (expires !== null && expires.getTime() - now.getTime() <= EXPIRING_WITHIN_MS) {
      found.push(attentionTexts.keyExpires(name, day(expires)));
    }
    const grace = formerPairUntil(key, now);
    if (grace !== null) found.push(attentionTexts.formerSecret(name, day(grace)));
    return found.map(text => ({ text, href: `${path}/${id}` }));
  });
}

/** The same of a sign-in as the person from a device that was not known. */
export function describeNewDevice(at: Date, address: string | null): Attention {
  return { text: attentionTexts.newDevice(at, address ?? ''), href: PROFILE };
}

/** A UTC day, YYYY-MM-DD. */
export function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
