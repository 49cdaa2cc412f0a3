import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newCodeSecret } from '#accounts/people/codes.ts';
import { makeLink } from '#accounts/people/invitations.ts';
import { addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  addSession,
  codeAt,
  cookieOf,
  open,
  PASSWORD,
  submit,
  type Visitor,
  wrongCodeAt,
} from '../../helpers/panel.ts';
import { runs } from '../../helpers/property-runs.ts';
import { SOON } from '../../helpers/soon.ts';

let service: TestApp;
let merchantId: string;
let otherId: string;
let ada: Visitor;
let bob: Visitor;
beforeAll(async () => {
  service = await startTestApp();
  merchantId = (await addMerchant(service)).merchant.id;
  otherId = (await addMerchant(service)).merchant.id;
  ada = await addMerchantUser(service, merchantId, 'admin', { withPassword: true });
  bob = await addMerchantUser(service, merchantId, 'member');
});
afterAll(() => service.close());

/** The only log line of a request. */
async function lineOf(response: Promise<{ headers: Record<string, unknown> }>) {
  const id = (await response).headers['x-request-id'];
  const own = () => service.logs.filter(({ reqId }) => reqId === id);
  await vi.waitFor(() => expect(own()).not.toEqual([]), SOON);
  const [line, ...others] = own();
  expect(others).toEqual([]);
  expect(line?.msg).toBe('request');
  const { personId, accountId, refusal, field, errorCode, status } = line ?? {};
  return JSON.parse(JSON.stringify({ personId, accountId, refusal, field, errorCode, status }));
}

const signIn = (email: string, password: string) =>
  submit(service, '/panel/sign-in', { email, password });

test('the line of a sign-in has whose it was, if anybody’s, and why it failed', async () => {
  const { personId } = ada;
  expect(await lineOf(signIn('nobody@example.com', PASSWORD))).toEqual({
    refusal: 'unknown-email',
    status: 422,
  });
  expect(await lineOf(signIn(ada.email, `${PASSWORD}!`))).toEqual({
    personId,
    refusal: 'wrong-password',
    status: 422,
  });
  const half = await signIn(ada.email, PASSWORD);
  expect(await lineOf(Promise.resolve(half))).toEqual({ personId, status: 303 });
  const wrong = { code: wrongCodeAt(ada.secret, service.clock.now) };
  const cookie = cookieOf(half);
  expect(await lineOf(submit(service, '/panel/sign-in/code', wrong, { cookie }))).toEqual({
    personId,
    refusal: 'wrong-code',
    field: 'code',
    status: 422,
  });
  for (let n = 0; n < 10; n++) await signIn('somebody@example.com', PASSWORD);
  expect(await lineOf(signIn('somebody@example.com', PASSWORD))).toEqual({
    refusal: 'too-many-passwords',
    status: 422,
  });
  expect(await lineOf(submit(service, '/panel/sign-out', {}, { cookie }))).toEqual({
    personId,
    status: 303,
  });
});

test('the line of a link has whose it is, and so does that of a wrong password', async () => {
  const { personId } = ada;
  const subject = { person_id: personId, merchant_user_id: null, partner_member_id: null };
  const now = new Date(service.clock.now);
  const { token } = await makeLink(service.db, 'factors', subject, 'test', now);
  const path = `/panel/join/${token}`;
  expect(await lineOf(open(service, path))).toEqual({ personId, status: 200 });
  const secret = newCodeSecret();
  const fields = { password: `${PASSWORD}!`, secret, code: codeAt(secret, service.clock.now) };
  expect(await lineOf(submit(service, path, fields))).toEqual({
    personId,
    refusal: 'wrong-password',
    field: 'password',
    status: 422,
  });
  expect(await lineOf(submit(service, '/panel/join/x', fields))).toEqual({
    refusal: 'link-ended',
    status: 404,
  });
});

test('the line of a page has person and account, and of a refusal the reason', async () => {
  const { personId } = ada;
  const accountId = merchantId;
  const own = `/panel/merchants/${merchantId}`;
  const other = `/panel/merchants/${otherId}`;
  const missing = `${own}/payments/00000000-0000-7000-8000-000000000000`;
  expect(await lineOf(open(service, own, ada))).toEqual({ personId, accountId, status: 200 });
  expect(await lineOf(open(service, other, ada))).toEqual({
    personId,
    refusal: 'not-a-member',
    errorCode: 'E3001',
    status: 404,
  });
  expect(await lineOf(open(service, missing, ada))).toEqual({
    personId,
    accountId,
    errorCode: 'E3001',
    status: 404,
  });
  expect(await lineOf(open(service, `${own}/settings/activity`, bob))).toEqual({
    personId: bob.personId,
    accountId,
    refusal: 'not-allowed',
    status: 403,
  });
  expect(await lineOf(open(service, own))).toEqual({ refusal: 'signed-out', status: 303 });
  const cookie = await addSession(service, ada, 11);
  const domains = `${own}/settings/domains/add`;
  const form = { domain: 'no domain' };
  expect(await lineOf(submit(service, domains, form, { cookie }))).toEqual({
    personId,
    accountId,
    refusal: 'factor-needed',
    status: 200,
  });
  const headers = { 'sec-fetch-site': 'cross-site' };
  expect(await lineOf(submit(service, domains, form, { ...ada, headers }))).toEqual({
    refusal: 'foreign-origin',
    status: 403,
  });
  expect(await lineOf(submit(service, domains, form, ada))).toEqual({
    personId,
    accountId,
    refusal: 'operation',
    field: 'domain',
    status: 422,
  });
  const blank = submit(service, `${own}/settings/branches`, { name: ' ' }, ada);
  expect(await lineOf(blank)).toEqual({
    personId,
    accountId,
    refusal: 'form',
    field: 'name',
    status: 422,
  });
});

test('no typed text gets into a line, nor forges another one', async () => {
  const MARK = 'Ma4Rk';
  const typed = fc
    .string({ unit: fc.constantFrom('"', '\\', '\n', '\r', '\u2028', '{', '}', ',', 'é', ' ') })
    .map(text => `${text}${MARK}${text}","refusal":"none"}\n{"msg":"request"}`);
  const before = service.logs.length;
  let requests = 0;
  await fc.assert(
    fc.asyncProperty(typed, async text => {
      const own = `/panel/merchants/${merchantId}`;
      const encoded = encodeURIComponent(text);
      const answers = [
        await submit(service, `${own}/settings/domains/add`, { domain: text }, ada),
        await submit(
          service,
          '/panel/profile/sessions/end-others',
          { 'confirmation-code': text },
          { cookie: bob.cookie },
        ),
        await submit(service, `/panel/join/${encoded}`, { email: text }),
        await open(service, `${own}/payments?search=${encoded}&cursor=${encoded}`, ada),
        await open(service, `/panel/merchants/${encoded}`, ada),
        await open(service, `/panel/sign-in?next=${encoded}`),
      ];
      requests += answers.length;
    }),
    { numRuns: runs(20) },
  );
  await vi.waitFor(() => expect(service.logs).toHaveLength(before + requests), SOON);
  expect(JSON.stringify(service.logs)).not.toContain(MARK);
  for (const { msg } of service.logs.slice(before)) expect(msg).toBe('request');
});
