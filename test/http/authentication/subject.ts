import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import type { NewKey } from '#accounts/keys/manage-keys.ts';
import type { AccessRule, Principal } from '#accounts/keys/principal.ts';
import { type Credentials, signingHeaders } from '#client/index.ts';
import { newEvent } from '#payments/new-event.ts';
import type { Merchant, Partner } from '#storage/database/account-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { insertEvent } from '#storage/repositories/payments/events.ts';
import { ADDRESSES, addMerchant, addPartner } from '../../helpers/accounts.ts';
import type { TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';

/** An account with a key that has all permissions of its kind of account. */
export interface Account {
  readonly kind: Principal['kind'];
  readonly credentials: Credentials;
  /** The owner of the account's keys. */
  readonly owner: NewKey['owner'];
  /** The account itself, or a merchant of the partner. */
  readonly merchant: Merchant;
  readonly payment: Payment;
  /** ID of an event of the payment. */
  readonly eventId: string;
  /** The account itself, or null for a merchant. */
  readonly partner: Partner | null;
}

/** An authenticated route, and a request that succeeds with status `success`. */
export interface SignedRoute extends AccessRule {
  readonly method: 'GET' | 'POST';
  /** As it is registered, e.g. `/external/v1/payments/:id`. */
  readonly url: string;
  readonly success: 200 | 201;
  request(account: Account): { readonly path: string; readonly body?: string };
}

/** The parts of a request, as signed or as sent. */
export interface Parts {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body: string;
}

/** The sender and the request of a route, with any errors to test. */
export interface Delivery {
  readonly credentials: Credentials;
  readonly parts: Parts;
  /** What is signed, if it differs from what is sent. */
  readonly signed?: Partial<Parts & { timestamp: number; nonce: string; secret: string }>;
  readonly nonce?: string;
  /** Milliseconds since the epoch; by default the application's time. */
  readonly now?: number;
  /** Override headers after signing; undefined removes one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** The client's address; by default 127.0.0.1. */
  readonly address?: string | undefined;
}

/** A test merchant, since some routes are for those alone, that can take payments; with one payment. */
export async function createMerchantAccount(
  service: TestApp,
  options: Parameters<typeof addMerchant>[1] = {},
): Promise<Account> {
  const { merchant, ...credentials } = await addMerchant(service, {
    environment: 'test',
    // One network suffices, and takes fewer statements.
    addresses: { 'btc-test': ADDRESSES['btc-test'] },
    ...options,
  });
  const created_at = new Date(service.clock());
  const payment = await addPayment(service.db, merchant, {
    created_at,
    // Tests move the clock by a day and more.
    expires_at: new Date(created_at.getTime() + 30 * 24 * 60 * 60_000),
    offered_blockchain_ids: ['btc-test'],
    ...(merchant.account_kind === 'us' && { processor: 'sandbox', external_id: merchant.id }),
  });
  const event = newEvent('payment_prompt.created', payment, created_at);
  await insertEvent(service.db, event);
  const owner = { merchantId: merchant.id };
  const has = { merchant, payment, eventId: event.id, partner: null };
  return { kind: 'merchant', credentials, owner, ...has };
}

export async function createAccount(service: TestApp, kind: Account['kind']): Promise<Account> {
  if (kind === 'merchant') return createMerchantAccount(service);
  const { partner, member, ...credentials } = await addPartner(service);
  const { merchant, payment, eventId } = await createMerchantAccount(service, {
    environment: 'live',
    addresses: { btc: ADDRESSES.btc },
    partnerId: partner.id,
  });
  return { kind, credentials, owner: { memberId: member.id }, merchant, payment, eventId, partner };
}

/** The parts of the route's valid request. */
export function partsOf(route: SignedRoute, account: Account): Parts {
  return { method: route.method, body: '', ...route.request(account) };
}

export async function deliver(
  { app, clock }: TestApp,
  { credentials, parts, signed = {}, nonce, now = clock(), headers = {}, address }: Delivery,
): Promise<LightMyRequestResponse> {
  const { timestamp, nonce: signedNonce, secret, ...signedParts } = signed;
  const sent = signingHeaders(credentials, { ...parts, now, nonce });
  const made = signingHeaders(
    { ...credentials, secret: secret ?? credentials.secret },
    {
      ...parts,
      ...signedParts,
      now: timestamp ?? now,
      nonce: signedNonce ?? sent['x-mp-nonce'],
    },
  );
  const all: Record<string, string | undefined> = {
    ...sent,
    'x-mp-signature': made['x-mp-signature'],
    ...(parts.body === '' ? {} : { 'content-type': 'application/json' }),
    ...headers,
  };
  const present = Object.entries(all).filter(([, value]) => value !== undefined);
  return app.inject({
    method: parts.method,
    url: parts.path,
    ...(address === undefined ? {} : { remoteAddress: address }),
    headers: Object.fromEntries(present) as Record<string, string>,
    ...(parts.body === '' ? {} : { payload: parts.body }),
  });
}

/** Expects that the request passed authentication and got the route's response. */
export function expectPassed(route: SignedRoute, answer: LightMyRequestResponse): void {
  expect({ status: answer.statusCode, body: answer.body }).toMatchObject({
    status: route.success,
  });
}
