import type { OpenSession } from '#accounts/people/panel-sessions.ts';
import { ERROR_CODES } from '#errors/catalogue.ts';
import { isAnsweredGone, wordDisabling } from '#errors/refusals/disablings.ts';
import { FAILING_AFTER_MS } from '#payments/webhooks/failing-endpoints.ts';
import type { Connection } from '#storage/database/connection.ts';
import {
  type AttentionFacts,
  readAttentionFacts,
} from '#storage/repositories/accounts/attention.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { accountPath } from '../kit/navigation.ts';
import { addressOf } from '../kit/page-address.ts';
import { PLACES, PROFILE } from '../kit/places.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import type { Attention } from './attention-list.ts';
import {
  day,
  describeGuesses,
  describeKeys,
  describePerson,
  LATELY_MS,
  securityEventQueryOf,
} from './person-attention.ts';

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

/**
 * Finds what needs attention in a merchant's account, except what the person has put aside, and changes of addresses,
 * which every page shows.
 */
export async function readAttention(
  db: Connection,
  words: PanelTexts,
  membership: Membership,
  { person }: OpenSession,
  { now, simulation }: { readonly now: Date; readonly simulation: boolean },
): Promise<Attention[]> {
  const { accountId } = membership;
  const lately = new Date(now.getTime() - LATELY_MS);
  const facts = await readAttentionFacts(db, {
    merchantId: accountId,
    person: securityEventQueryOf(words, membership, person.id, now),
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
  const path = accountPath(membership);
  const found = [
    ...describeGuesses(words, person, now),
    ...describeUnmatched(words, facts, path),
    ...describeKeys(words, facts.keys, `${path}${PLACES.merchant.developer}/keys`, now),
    ...describeEndpoints(words, facts, path, now),
    ...describeFacts(words, facts, path, now),
    ...describePerson(words, facts.securityEvents, membership),
    ...(person.is_demo ? [] : describeRecoveryCodes(words, facts)),
  ];
  return found.filter(({ key }) => !facts.putAside.includes(key));
}

/** @param path Of the account. */
function describeUnmatched(
  { home: { attention } }: PanelTexts,
  { unmatched: { deposits, newest } }: AttentionFacts,
  path: string,
): Attention[] {
  if (newest === null) return [];
  const key = `unmatched:${deposits}:${new Date(newest).toISOString()}`;
  const text = attention.unmatched(deposits, deposits === UNMATCHED_MAXIMUM);
  return [{ key, text, href: `${path}/unmatched` }];
}

/** @param path Of the account. */
function describeEndpoints(
  { home: { attention }, webhooks: { disablings } }: PanelTexts,
  { troubledEndpoints }: AttentionFacts,
  path: string,
  now: Date,
): Attention[] {
  return troubledEndpoints.flatMap(endpoint => {
    const { id, url, disabled_at: disabled, disabled_reason: reason } = endpoint;
    const { origin } = new URL(url);
    const href = `${path}${PLACES.merchant.developer}/webhooks/${id}`;
    if (disabled === null) {
      const since = endpoint.succeeded_at === null ? 0 : Date.parse(endpoint.succeeded_at);
      return [
        { key: `endpoint-fails:${id}:${since}`, text: attention.endpointFails(origin), href },
      ];
    }
    const at = Date.parse(disabled);
    if (!isAnsweredGone(reason) && now.getTime() - at >= TOLD_MS) return [];
    const text = attention.endpointDisabled(origin, wordDisabling(disablings, reason));
    return [{ key: `endpoint-disabled:${id}:${at}`, text, href }];
  });
}

/** @param path Of the account. */
function describeFacts(
  { home: { attention } }: PanelTexts,
  { networksWithoutAddress, olderContractDay, refused }: AttentionFacts,
  path: string,
  now: Date,
): Attention[] {
  const developer = path + PLACES.merchant.developer;
  const found: Attention[] = refused.map(({ errorCode, requests }) => ({
    // Ten times as many are news, and so is another day.
    key: `refused:${errorCode}:${day(now)}:${String(requests).length}`,
    text: attention.refused(requests, errorCode),
    href: addressOf(`${developer}/requests`, { code: errorCode }),
  }));
  if (networksWithoutAddress > 0) {
    found.push({
      key: `without-address:${networksWithoutAddress}`,
      text: attention.withoutAddress(networksWithoutAddress),
      href: `${path}/settings/addresses`,
    });
  }
  if (olderContractDay !== null) {
    // That it is used on another day is no news.
    const key = 'older-contract';
    const text = attention.olderContract(olderContractDay);
    found.push({ key, text, href: `${developer}/keys` });
  }
  return found;
}

function describeRecoveryCodes(
  { home: { attention } }: PanelTexts,
  { recoveryCodesLeft: left }: AttentionFacts,
): Attention[] {
  if (left >= RECOVERY_CODES_FEW) return [];
  return [{ key: `recovery-codes:${left}`, text: attention.recoveryCodes(left), href: PROFILE }];
}
