import { isAllowed } from '#accounts/access/permissions.ts';
import { EXPIRING_WITHIN_MS } from '#accounts/keys/expiring-keys.ts';
import { formerPairUntil } from '#accounts/keys/former-pair.ts';
import type { KeyAttention } from '#storage/repositories/accounts/attention.ts';
import type {
  SecurityEvent,
  SecurityEventQuery,
} from '#storage/repositories/accounts/security-events.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { PANEL_PREFIX } from '../kit/assets.ts';
import { CHANGE_PASSWORD } from '../kit/closed-codes.ts';
import { accountPath } from '../kit/navigation.ts';
import { PLACES } from '../kit/places.ts';
import { texts } from '../texts/index.ts';

/** Something that needs a person's attention, and where to look at it. */
export interface Attention {
  readonly text: string;
  /** Without the base path. */
  readonly href: string;
}

const attentionTexts = texts.home.attention;

/** The page that shows a person's own sign-ins. */
export const PROFILE = `${PANEL_PREFIX}/profile`;

/** Actions in the audit log of making a link for somebody else. */
const LINK_ACTIONS: readonly string[] = ['user.link', 'member.link'];

/** How long new keys, events of a person's sign-in, and losses of an admin or owner are shown. */
export const LATELY_MS = 7 * 24 * 60 * 60_000;

/**
 * API keys that need attention, whoever owns them: new ones, those about to expire, and those whose former secret
 * still works.
 * @param path Path of the pages of keys, without the base path.
 */
export function describeKeys(keys: readonly KeyAttention[], path: string, now: Date): Attention[] {
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

/** The query for `describePerson`. People who may not see the team learn nothing about it. */
export function securityEventQueryOf(
  { kind, accountId, memberId, role }: Membership,
  personId: string,
  now: Date,
): SecurityEventQuery {
  return {
    kind,
    personId,
    memberId,
    accountId: isAllowed(role, 'team.read') ? accountId : null,
    actions: [...LINK_ACTIONS, ...Object.keys(attentionTexts.ownChanges)],
    since: new Date(now.getTime() - LATELY_MS),
  };
}

/**
 * Describes sign-ins from a new device, changes of what the person signs in with, and losses of an admin or owner.
 */
export function describePerson(
  events: readonly SecurityEvent[],
  membership: Membership,
): Attention[] {
  const { kind } = membership;
  const team = accountPath(membership) + PLACES[kind].team;
  const known: Readonly<Partial<Record<string, string>>> = attentionTexts.ownChanges;
  return events.map(({ action, at: iso, by, address, former }) => {
    const at = new Date(iso);
    if (former !== null) {
      return { text: attentionTexts.adminGone[kind](former, day(at), by), href: team };
    }
    if (LINK_ACTIONS.includes(action)) {
      return { text: attentionTexts.linkMade(at, by), href: CHANGE_PASSWORD };
    }
    const what = known[action];
    const text =
      what === undefined
        ? attentionTexts.newDevice(at, address ?? '')
        : attentionTexts.ownChange(what, at, address ?? '');
    return { text, href: PROFILE };
  });
}

/** A UTC day, YYYY-MM-DD. */
export function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
