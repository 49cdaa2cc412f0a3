import type { LightMyRequestResponse } from 'fastify';
import { TOTP } from 'otpauth';
import { v7 as uuidv7 } from 'uuid';
import { createPartnerMember } from '#accounts/partners.ts';
import { newCodeSecret } from '#accounts/people/codes.ts';
import { beginSession } from '#accounts/people/panel-sessions.ts';
import { hashPassword, type PasswordHashing } from '#accounts/people/password-hash.ts';
import { createUser } from '#accounts/users.ts';
import type { PartnerRole, UserRole } from '#storage/database/account-tables.ts';
import { setPerson } from '#storage/repositories/people/memberships.ts';
import { insertPerson } from '#storage/repositories/people/people.ts';
import { type Notice, readNotice } from '#surfaces/panel/kit/notice.ts';
import type { Clock } from '#time/clock.ts';
import { addMerchant, type MerchantWithKey, operatorOf } from './accounts.ts';
import type { TestApp } from './app.ts';

/** The host of the panel in a test's application; see `testConfig`. */
export const HOST = 'pay.example.test';
export const SESSION_COOKIE = '__Host-mp_panel';
export const DEVICE_COOKIE = '__Host-mp_device';
export const NOTICE_COOKIE = '__Host-mp_notice';
export const PASSWORD = 'a password that nobody else has';

/** What people are added to. */
type PeopleOf = Pick<TestApp, 'db'> & PasswordHashing & { readonly clock: Clock };

/** Somebody who signs in, and the cookie of a complete session. */
export interface Visitor {
  readonly personId: string;
  readonly email: string;
  readonly secret: string;
  /** As their browser has it: a form that takes a code renews it. */
  cookie: string;
}

/** Somebody who signs in as a user of a merchant. */
interface MerchantUser extends Visitor {
  readonly userId: string;
}

interface PersonOptions {
  readonly name?: string;
  readonly isDemo?: boolean;
  /** With a password, whose hashing takes a tenth of a second unless `passwordWork` says otherwise. */
  readonly withPassword?: true;
  /** Minutes since the second factor; null if it has not been given yet. */
  readonly factorMinutesAgo?: number | null;
}

/** Adds a person with a session. */
export async function addPerson(
  service: PeopleOf,
  { name = 'Ada', isDemo = false, withPassword, factorMinutesAgo = 0 }: PersonOptions = {},
): Promise<Visitor> {
  const { db, keyring, clock } = service;
  const id = uuidv7();
  const secret = newCodeSecret();
  const now = new Date(clock());
  const email = `${id}@example.com`;
  const person = await insertPerson(db, {
    id,
    name,
    email,
    email_confirmed_at: now,
    is_demo: isDemo,
    created_at: now,
    factors_since: now,
    ...(isDemo
      ? {}
      : {
          code_secret: keyring.seal(secret, id),
          code_key_version: keyring.currentVersion,
          ...(withPassword === true ? await hashPassword(service, id, PASSWORD) : {}),
        }),
  });
  const token = await beginSession(db, person, {
    methods: isDemo ? ['demo'] : ['password', 'code'],
    secondFactorAt:
      factorMinutesAgo === null ? null : new Date(now.getTime() - factorMinutesAgo * 60_000),
    visitor: { device: 'test', address: '127.0.0.1' },
    now,
  });
  return { personId: id, email, secret, cookie: `${SESSION_COOKIE}=${token}` };
}

/**
 * Starts another session of a person who is not of the demo.
 * @param factorMinutesAgo Minutes since the second factor; null if it has not been given yet.
 * @returns Its cookie.
 */
export async function addSession(
  { db, clock }: Omit<PeopleOf, 'keyring'>,
  { personId }: Pick<Visitor, 'personId'>,
  factorMinutesAgo: number | null = 0,
): Promise<string> {
  const now = new Date(clock());
  const token = await beginSession(
    db,
    { id: personId, is_demo: false },
    {
      methods: factorMinutesAgo === null ? ['password'] : ['password', 'code'],
      secondFactorAt:
        factorMinutesAgo === null ? null : new Date(now.getTime() - factorMinutesAgo * 60_000),
      visitor: { device: 'test', address: '127.0.0.1' },
      now,
    },
  );
  return `${SESSION_COOKIE}=${token}`;
}

/** Adds a person who signs in as a user of a merchant. */
export async function addMerchantUser(
  service: PeopleOf,
  merchantId: string,
  role: UserRole,
  options: PersonOptions = {},
): Promise<MerchantUser> {
  const visitor = await addPerson(service, options);
  const { name = 'Ada' } = options;
  const user = await createUser(operatorOf(service), {
    merchantId,
    name,
    email: visitor.email,
    role,
  });
  await setPerson(service.db, 'merchant', user.id, entryOf(service, visitor));
  return { ...visitor, userId: user.id };
}

/**
 * Adds a merchant with an admin.
 * @param below Path of a page below the merchant's; `path` is the full path.
 */
export async function addShop(
  service: TestApp,
  below = '',
  options: Parameters<typeof addMerchant>[1] = {},
): Promise<MerchantWithKey & { readonly ada: MerchantUser; readonly path: string }> {
  const shop = await addMerchant(service, options);
  const ada = await addMerchantUser(service, shop.merchant.id, 'admin');
  return { ...shop, ada, path: `/panel/merchants/${shop.merchant.id}${below}` };
}

/** Adds a person who signs in as a member of a partner. */
export async function addPartnerUser(
  service: PeopleOf,
  partnerId: string,
  role: PartnerRole,
  options: PersonOptions = {},
): Promise<Visitor & { readonly memberId: string }> {
  const visitor = await addPerson(service, options);
  const { name = 'Ada' } = options;
  const { email } = visitor;
  const member = await createPartnerMember(operatorOf(service), { partnerId, name, email, role });
  await setPerson(service.db, 'partner', member.id, entryOf(service, visitor));
  return { ...visitor, memberId: member.id };
}

/** The arguments of `setPerson`. */
export function entryOf(
  { clock }: Pick<PeopleOf, 'clock'>,
  { personId }: Pick<Visitor, 'personId'>,
) {
  return { personId, now: new Date(clock()) };
}

let visits = 0;

/** Each request comes from a new address, since requests per address are limited. */
function nextAddress(): string {
  visits += 1;
  return `10.${(visits >> 16) & 255}.${(visits >> 8) & 255}.${visits & 255}`;
}

/** Opens a page. */
export function open(
  { app }: TestApp,
  url: string,
  { cookie }: { readonly cookie?: string } = {},
): Promise<LightMyRequestResponse> {
  const remoteAddress = nextAddress();
  return app.inject({
    remoteAddress,
    url,
    headers: { host: HOST, ...(cookie === undefined ? {} : { cookie }) },
  });
}

/**
 * Sends a form from one of the panel's own pages, unless the headers say otherwise. A visitor keeps the new session
 * cookie, as a browser does.
 */
export async function submit(
  { app }: TestApp,
  url: string,
  fields: Readonly<Record<string, string>> | [name: string, value: string][],
  sender: { cookie?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<LightMyRequestResponse> {
  const { cookie, headers = { 'sec-fetch-site': 'same-origin' } } = sender;
  const response = await app.inject({
    method: 'POST',
    remoteAddress: nextAddress(),
    url,
    headers: {
      host: HOST,
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
      ...(cookie === undefined ? {} : { cookie }),
    },
    payload: new URLSearchParams(fields).toString(),
  });
  const given = response.cookies.find(({ name, value }) => name === SESSION_COOKIE && value !== '');
  if (cookie !== undefined && given !== undefined) sender.cookie = cookieOf(response);
  return response;
}

/** The field of a form whose question was read and answered. */
export const SURE = { 'confirmation-sure': 'yes' } as const;

/** What the next page says of the change that a response tells of; undefined for nothing. */
export function noticeOf({ cookies }: LightMyRequestResponse): Notice | undefined {
  return readNotice(cookies.find(({ name }) => name === NOTICE_COOKIE)?.value);
}

/**
 * Answers a page that asks before a change, as a browser does: with everything that the page repeats, and a fresh code
 * if it has a field for one.
 */
export async function answer(
  service: TestApp,
  page: LightMyRequestResponse,
  visitor: Visitor,
): Promise<LightMyRequestResponse> {
  const { action, fields } = askedForm(page);
  if (page.body.includes('id="confirmation-code"')) {
    fields.push(['confirmation-code', codeAt(visitor.secret, service.clock.now)]);
  }
  return submit(service, action, fields, visitor);
}

/** Downloads a file by a link on one of the panel's own pages. */
export function download(
  { app }: TestApp,
  url: string,
  { cookie }: { readonly cookie: string },
): Promise<LightMyRequestResponse> {
  const headers = { host: HOST, cookie, 'sec-fetch-site': 'same-origin' };
  return app.inject({ remoteAddress: nextAddress(), url, headers });
}

/** The form of a page that asks before a change: where it goes, and what it repeats. */
export function askedForm({ body }: LightMyRequestResponse): {
  readonly action: string;
  readonly fields: [name: string, value: string][];
} {
  const main = /<main[\s\S]*<\/main>/.exec(body)?.[0] ?? '';
  const form = /<form method="post" action="(?<action>[^"]*)"[\s\S]*?<\/form>/.exec(main);
  const hidden = (form?.[0] ?? '').matchAll(
    /<input type="hidden" name="(?<name>[^"]*)" value="(?<value>[^"]*)">/g,
  );
  return {
    action: unescapeHtml(form?.groups?.action ?? ''),
    fields: [...hidden].map(({ groups = {} }) => [
      unescapeHtml(groups.name ?? ''),
      unescapeHtml(groups.value ?? ''),
    ]),
  };
}

function unescapeHtml(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

/** Opens the page that a form has led to, with what it says of the change. */
export function follow(
  service: TestApp,
  response: LightMyRequestResponse,
  { cookie }: { readonly cookie: string },
): Promise<LightMyRequestResponse> {
  const cookies = `${cookie}; ${cookieOf(response, NOTICE_COOKIE)}`;
  return open(service, String(response.headers.location), { cookie: cookies });
}

/** The code that an authenticator app shows at this time. */
export function codeAt(secret: string, now: number): string {
  return new TOTP({ secret }).generate({ timestamp: now });
}

/** A code that the app shows neither at this time nor half a minute before. */
export function wrongCodeAt(secret: string, now: number): string {
  const right = [codeAt(secret, now), codeAt(secret, now - 30_000)];
  return ['000000', '000001', '000002'].find(code => !right.includes(code)) ?? '';
}

/** The cookie that a response sets. */
export function cookieOf(response: LightMyRequestResponse, name = SESSION_COOKIE): string {
  const cookie = response.cookies.find(each => each.name === name);
  if (cookie === undefined) throw new Error(`${name} is not set`);
  return `${name}=${cookie.value}`;
}

/** The text of a page without markup, on one line. */
export function textOf({ body }: Pick<LightMyRequestResponse, 'body'>): string {
  const main = /<main[\s\S]*<\/main>/.exec(body)?.[0] ?? body;
  return main
    .replaceAll('<wbr>', '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ');
}
