import { isAllowed } from '#accounts/access/permissions.ts';
import { EXPIRING_WITHIN_MS } from '#accounts/keys/expiring-keys.ts';
import { formerPairUntil } from '#accounts/keys/rotation-grace.ts';
import type { OpenSession } from '#accounts/people/panel-sessions.ts';
import type { KeyAttention } from '#storage/repositories/accounts/attention.ts';
import type {
  SecurityEvent,
  SecurityEventQuery,
} from '#storage/repositories/accounts/security-events.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { CHANGE_PASSWORD, describeClosedCodes } from '../kit/code-lockout-warning.ts';
import { accountPath } from '../kit/navigation.ts';
import { PLACES, PROFILE } from '../kit/places.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import type { Attention } from './attention-list.ts';

/** Actions in the audit log of making a link for somebody else. */
const LINK_ACTIONS: readonly string[] = ['user.link', 'member.link'];

/** How long new keys, events of a person's sign-in, and losses of an admin or owner are shown. */
export const LATELY_MS = 7 * 24 * 60 * 60_000;

/**
 * API keys that need attention, whoever owns them: new ones, those about to expire, and those whose former secret
 * still works.
 * @param path Path of the pages of keys, without the base path.
 */
export function describeKeys(
  { home: { attention } }: PanelTexts,
  keys: readonly KeyAttention[],
  path: string,
  now: Date,
): Attention[] {
  return keys.flatMap(key => {
    const { id, name, created_at: made, revoked_at: revoked, expires_at: expires } = key;
    if (revoked !== null || (expires !== null && expires <= now)) return [];
    const found: Attention[] = [];
    const add = (kind: string, text: string) =>
      found.push({ key: `${kind}:${id}`, text, href: `${path}/${id}` });
    if (now.getTime() - made.getTime() < LATELY_MS) {
      add('key-made', attention.keyMade(name, day(made)));
    }
    if (expires !== null && expires.getTime() - now.getTime() <= EXPIRING_WITHIN_MS) {
      add(`key-expires-${expires.toISOString()}`, attention.keyExpires(name, day(expires)));
    }
    const grace = formerPairUntil(key, now);
    if (grace !== null) {
      add(`former-secret-${grace.toISOString()}`, attention.formerSecret(name, day(grace)));
    }
    return found;
  });
}

/** The query for `describePerson`. People who may not see the team learn nothing about it. */
export function securityEventQueryOf(
  { home: { attention } }: PanelTexts,
  { kind, accountId, memberId, role }: Membership,
  personId: string,
  now: Date,
): SecurityEventQuery {
  return {
    kind,
    personId,
    memberId,
    accountId: isAllowed(role, 'team.read') ? accountId : null,
    actions: [...LINK_ACTIONS, ...Object.keys(attention.ownChanges)],
    since: new Date(now.getTime() - LATELY_MS),
  };
}

/** Wrong codes that were entered for a person. */
export function describeGuesses(
  words: PanelTexts,
  person: OpenSession['person'],
  now: Date,
): Attention[] {
  const text = describeClosedCodes(words, person, now);
  if (text === null) return [];
  const key = `codes-closed:${person.code_closed_at?.toISOString()}`;
  return [{ key, text, href: CHANGE_PASSWORD }];
}

/**
 * Describes sign-ins from a new device, changes of what the person signs in with, and losses of an admin or owner.
 */
export function describePerson(
  { home: { attention } }: PanelTexts,
  events: readonly SecurityEvent[],
  membership: Membership,
): Attention[] {
  const { kind } = membership;
  const team = accountPath(membership) + PLACES[kind].team;
  const known: Readonly<Partial<Record<string, string>>> = attention.ownChanges;
  return events.map(({ id, action, at: iso, by, address, former }) => {
    const key = `event:${id}`;
    const at = new Date(iso);
    if (former !== null) {
      return { key, text: attention.adminGone[kind](former, day(at), by), href: team };
    }
    if (LINK_ACTIONS.includes(action)) {
      return { key, text: attention.linkMade(at, by), href: CHANGE_PASSWORD };
    }
    const what = known[action];
    const text =
      what === undefined
        ? attention.newDevice(at, address ?? '')
        : attention.ownChange(what, at, address ?? '');
    return { key, text, href: PROFILE };
  });
}

/** A UTC day, YYYY-MM-DD. */
export function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
