import type { OpenSession } from '#accounts/people/panel-sessions.ts';
import { ERROR_CODES } from '#errors/catalogue.ts';
import { ANSWERED_GONE } from '#payments/webhooks/change-endpoint.ts';
import { FAILING_AFTER_MS } from '#payments/webhooks/failing-endpoints.ts';
import type { Connection } from '#storage/database/connection.ts';
import {
  type AttentionFacts,
  readAttentionFacts,
} from '#storage/repositories/accounts/attention.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { CHANGE_PASSWORD, describeClosedCodes } from '../kit/closed-codes.ts';
import { accountPath } from '../kit/navigation.ts';
import { addressOf } from '../kit/page-address.ts';
import { PLACES } from '../kit/places.ts';
import { texts } from '../texts/index.ts';
import {
  type Attention,
  day,
  describeKeys,
  describePerson,
  LATELY_MS,
  PROFILE,
  securityEventQueryOf,
} from './person-attention.ts';

const attentionTexts = texts.home.attention;

const DAY_MS = 24 * 60 * 60_000;
/** Unmatched deposits are counted up to this; their own page lists all. */
const UNMATCHED_MAXIMUM = 100;
/** How long an endpoint is shown that somebody disabled. */
const TOLD_MS = 14 * DAY_MS;
const RECOVERY_CODES_FEW = 4;
/** Period over which refused requests are counted, in milliseconds. */
const REFUSED_WITHIN_MS = 60 * 60_000;
/**
 * Refused requests per error in that period that are still usual: a mistake or two in a shop's software makes no
 * more.
 */
const REFUSED_USUAL = 10;
/** Errors of authentication and authorization. */
const REFUSALS = ERROR_CODES.filter(code => code.startsWith('E2'));
const ENDPOINTS_MAXIMUM = 100;

/** Finds what needs attention in a merchant's account, except changes of addresses, which every page shows. */
export async function readAttention(
  db: Connection,
  membership: Membership,
  { person }: OpenSession,
  { now, simulation }: { readonly now: Date; readonly simulation: boolean },
): Promise<Attention[]> {
  const { accountId } = membership;
  const lately = new Date(now.getTime() - LATELY_MS);
  const facts = await readAttentionFacts(db, {
    merchantId: accountId,
    person: securityEventQueryOf(membership, person.id, now),
    unmatchedMaximum: UNMATCHED_MAXIMUM,
    trouble: { since: new Date(now.getTime() - FAILING_AFTER_MS), limit: ENDPOINTS_MAXIMUM },
    errors: {
      codes: REFUSALS,
      since: new Date(now.getTime() - REFUSED_WITHIN_MS),
      usual: REFUSED_USUAL,
    },
    settledBy: simulation ? ['chain', 'simulation'] : ['chain'],
    olderContractSince: day(lately),
  });
  const { unmatched } = facts;
  const path = accountPath(membership);
  const found: Attention[] = [];
  const closed = describeClosedCodes(texts, person, now);
  if (closed !== null) found.push({ text: closed, href: CHANGE_PASSWORD });
  if (unmatched > 0) {
    const text = attentionTexts.unmatched(unmatched, unmatched === UNMATCHED_MAXIMUM);
    found.push({ text, href: `${path}/unmatched` });
  }
  found.push(...describeKeys(facts.keys, `${path}${PLACES.merchant.developer}/keys`, now));
  for (const {
    id,
    url,
    disabled_at: disabled,
    disabled_reason: reason,
  } of facts.troubledEndpoints) {
    const { origin } = new URL(url);
    const href = `${path}${PLACES.merchant.developer}/webhooks/${id}`;
    if (disabled === null) found.push({ text: attentionTexts.endpointFails(origin), href });
    else if (reason === ANSWERED_GONE || now.getTime() - Date.parse(disabled) < TOLD_MS) {
      found.push({ text: attentionTexts.endpointDisabled(origin, reason ?? ''), href });
    }
  }
  found.push(...describeFacts(facts, path), ...describePerson(facts.securityEvents, membership));
  if (!person.is_demo && facts.recoveryCodesLeft < RECOVERY_CODES_FEW) {
    found.push({ text: attentionTexts.recoveryCodes(facts.recoveryCodesLeft), href: PROFILE });
  }
  return found;
}

/** @param path Of the account. */
function describeFacts(facts: AttentionFacts, path: string): Attention[] {
  const developer = path + PLACES.merchant.developer;
  const { networksWithoutAddress, olderContractDay } = facts;
  const found: Attention[] = facts.refused.map(({ errorCode, requests }) => ({
    text: attentionTexts.refused(requests, errorCode),
    href: addressOf(`${developer}/requests`, { code: errorCode }),
  }));
  if (networksWithoutAddress > 0) {
    found.push({
      text: attentionTexts.withoutAddress(networksWithoutAddress),
      href: `${path}/settings/addresses`,
    });
  }
  if (olderContractDay !== null) {
    found.push({ text: attentionTexts.olderContract(olderContractDay), href: `${developer}/keys` });
  }
  return found;
}
