import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { revokeKey } from '#accounts/keys/manage-keys.ts';
import { setUser } from '#accounts/users.ts';
import { operatorOf } from '../../helpers/accounts.ts';
import { LIST, type ListeningApp, startListeningApp } from '../../helpers/listening-app.ts';
import { readResponses, render } from '../../helpers/raw-http.ts';
import type { Answer } from '../../helpers/refusal.ts';
import {
  addOlderMerchant,
  basic,
  expectLegacyRefusal,
  BODY as OLDER_BODY,
  PROMPT,
} from '../legacy/older-contract.ts';

let listening: ListeningApp;

beforeEach(async () => {
  listening = await startListeningApp();
});
afterEach(() => listening.service.close());

/** Sends a request except for its last byte, which follows when `meanwhile` is done. */
async function sendAround(bytes: Buffer, meanwhile: () => Promise<unknown>): Promise<Answer> {
  const { app, logs } = listening.service;
  const socket = connect(listening.port, '127.0.0.1');
  const arrived = once(app.server, 'request');
  socket.write(bytes.subarray(0, -1));
  await arrived;
  // A later request has been admitted, so this one waits for nothing but its body.
  expect((await listening.ask({})).statusCode).toBe(200);
  const before = logs.length;
  await meanwhile();
  expect(logs.slice(before)).toEqual([]);
  socket.write(bytes.subarray(-1));
  const { answers } = await readResponses(socket, 1);
  const [answer] = answers;
  if (answer === undefined) throw new Error('there was no answer');
  return answer;
}

const payments = async () =>
  (await listening.service.db.selectFrom('payments').select('id').execute()).length;

test('a key that is revoked while a body arrives creates nothing', async () => {
  const { service, shop } = listening;
  const bytes = listening.sign({ body: '{"amount":5000}' });
  expect((await sendAround(bytes, async () => undefined)).statusCode).toBe(201);
  const late = listening.sign({ body: '{"amount":5000}' });
  const answer = await sendAround(late, () => revokeKey(operatorOf(service), shop.keyId));
  expect(answer.statusCode).toBe(401);
  expect(JSON.parse(answer.body).error.errorCode).toBe('E2005');
  expect(await payments()).toBe(1);
});

test('it reads nothing either, if the body turns out to be empty', async () => {
  const { service, shop } = listening;
  const bytes = listening.sign({
    method: 'GET',
    target: LIST,
    body: '',
    chunks: [],
    contentType: null,
  });
  const answer = await sendAround(bytes, () => revokeKey(operatorOf(service), shop.keyId));
  expect(JSON.parse(answer.body).error.errorCode).toBe('E2005');
});

test('a user of the older contract who becomes inactive meanwhile creates nothing either', async () => {
  const { service } = listening;
  const merchant = await addOlderMerchant(service);
  const bytes = render({
    method: 'POST',
    target: PROMPT,
    headers: [
      ['Authorization', basic(merchant.clientId, merchant.apiKey)],
      ['Content-Type', 'application/json'],
    ],
    body: JSON.stringify(OLDER_BODY),
  });
  expect((await sendAround(bytes, async () => undefined)).statusCode).toBe(201);
  const deactivate = () => setUser(operatorOf(service), merchant.user.id, { status: 'inactive' });
  expectLegacyRefusal(await sendAround(bytes, deactivate), 'userInactive');
  expect(await payments()).toBe(1);
});
