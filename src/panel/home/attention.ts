import type { Connection } from '../../database/connection.ts';
import { formerPairUntil } from '../../keys/former-pair.ts';
import type { NamedChange } from '../../repositories/accounts/address-changes.ts';
import { countOwnUnmatched } from '../../repositories/deposits/account-deposits.ts';
import { listApiKeys } from '../../repositories/keys/api-keys.ts';
import type { Membership } from '../../repositories/people/memberships.ts';
import { listRecoveryCodes } from '../../repositories/people/people.ts';
import { listTroubledEndpoints } from '../../repositories/webhooks/endpoints.ts';
import { ANSWERED_GONE } from '../../webhooks/change-endpoint.ts';
import { PANEL_PREFIX } from '../assets.ts';
import { noticesOf } from '../change-notices.ts';
import { CHANGE_PASSWORD, describeClosedCodes } from '../closed-codes.ts';
import { accountPath } from '../navigation.ts';
import type { OpenSession } from '../people/panel-sessions.ts';
import { DEVELOPER_PATHS } from '../requests/paths.ts';
import { texts } from '../texts/index.ts';

/** Something that needs a person's attention, and where to look at it. */
export interface Attention {
  readonly text: string;
  /** Without the base path. */
  readonly href: string;
}

const attentionTexts = texts.home.attention;

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const EXPIRING_WITHIN_MS = 14 * DAY_MS;
/** Counted up to this; the page itself lists them all. */
const UNMATCHED_MAXIMUM = 100;
/** How long an endpoint that somebody disabled is told of. */
const TOLD_MS = 14 * DAY_MS;
const RECOVERY_CODES_FEW = 4;
const ENDPOINTS_MAXIMUM = 100;

/**
 * Finds what needs attention in a merchant's account.
 * @param changes Of where its money goes, to be told first.
 */
export async function readAttention(
  db: Connection,
  membership: Membership,
  { person }: OpenSession,
  { now, changes }: { readonly now: Date; readonly changes: readonly NamedChange[] },
): Promise<Attention[]> {
  const { accountId } = membership;
  const [unmatched, keys, endpoints, codes] = await Promise.all([
    countOwnUnmatched(db, accountId, UNMATCHED_MAXIMUM),
    listApiKeys(db, { merchantId: accountId }),
    listTroubledEndpoints(db, accountId, {
      since: new Date(now.getTime() - HOUR_MS),
      limit: ENDPOINTS_MAXIMUM,
    }),
    person.is_demo ? [] : listRecoveryCodes(db, person.id),
  ]);
  const path = accountPath(membership);
  const keysPath = `${path}${DEVELOPER_PATHS.merchant}/keys`;
  const found: Attention[] = noticesOf(changes).map(({ text, path: below }) => ({
    ...{ text, href: `${path}/settings${below}` },
  }));
  const closed = describeClosedCodes(person, now);
  if (closed !== null) found.push({ text: closed, href: CHANGE_PASSWORD });
  if (unmatched > 0) {
    const text = attentionTexts.unmatched(unmatched, unmatched === UNMATCHED_MAXIMUM);
    found.push({ text, href: `${path}/unmatched` });
  }
  for (const key of keys) {
    const { id, name, revoked_at: revoked, expires_at: expires } = key;
    const href = `${keysPath}/${id}`;
    const isUsable = revoked === null && (expires === null || expires > now);
    if (!isUsable) continue;
    if (expires !== null && expires.getTime() - now.getTime() <= EXPIRING_WITHIN_MS) {
      found.push({ text: attentionTexts.keyExpires(name, day(expires)), href });
    }
    const grace = formerPairUntil(key, now);
    if (grace !== null) {
      found.push({ text: attentionTexts.formerSecret(name, day(grace)), href });
    }
  }
  for (const { id, url, disabled_at: disabled, disabled_reason: reason } of endpoints) {
    const { origin } = new URL(url);
    const href = `${path}${DEVELOPER_PATHS.merchant}/webhooks/${id}`;
    if (disabled === null) found.push({ text: attentionTexts.endpointFails(origin), href });
    else if (reason === ANSWERED_GONE || now.getTime() - disabled.getTime() < TOLD_MS) {
      found.push({ text: attentionTexts.endpointDisabled(origin, reason ?? ''), href });
    }
  }
  if (!person.is_demo && codes.length < RECOVERY_CODES_FEW) {
    found.push({
      text: attentionTexts.recoveryCodes(codes.length),
      href: `${PANEL_PREFIX}/profile`,
    });
  }
  return found;
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
