import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { IssuedKey } from '#accounts/keys/manage-keys.ts';
import { addPartner } from '../../helpers/accounts.ts';
import { CREATE, LIST, type ListeningApp, startListeningApp } from '../../helpers/listening-app.ts';
import { render } from '../../helpers/raw-http.ts';
import { send } from '../../helpers/signed-request.ts';
import { SOON } from '../../helpers/soon.ts';

// Texts that a request carries, and that no log line may contain.
const REFERENCE = 'jane-doe@customer.example';
const NOTE = 'a private note';
const URL_BACK = 'https://shop.example/thanks?order=4711';
const SEARCH = 'searched-for';
const KEY = 'idempotency-4711';
const BASIC = 'basic-credentials';
const PRIVATE = [REFERENCE, NOTE, URL_BACK, SEARCH, KEY, BASIC];

let host: ListeningApp;
beforeAll(async () => {
  host = await startListeningApp();
});
afterAll(() => host.service.close());

const credentials = ({ secret, passphrase }: IssuedKey) => [secret, passphrase];
const requestLines = () => host.service.logs.filter(({ msg }) => msg === 'request');
const payment = { amount: 5000, customerReferenceId: REFERENCE, note: NOTE, redirectUrl: URL_BACK };

test('every request leaves one line with its ID and nothing private', async () => {
  const { service, shop, sign } = host;
  const partner = await addPartner(service);
  const body = JSON.stringify(payment);
  const unsigned = (header: string) =>
    Buffer.from(sign({ body }).toString('latin1').replace(header, 'x-other'));
  const requests = [
    sign({ body, idempotencyKey: KEY }),
    sign({ body, idempotencyKey: KEY }),
    sign({ body: `${body} `, idempotencyKey: KEY }),
    sign({ body: `${body}}`, idempotencyKey: KEY }),
    sign({ body, contentType: 'text/plain' }),
    sign({ body: JSON.stringify({ ...payment, amount: '\0' }) }),
    sign({ body: JSON.stringify({ ...payment, [SEARCH]: SEARCH }) }),
    sign({ body, headers: [['Authorization', `Basic ${BASIC}`]] }),
    sign({ body, headers: [['X-MP-Nonce', SEARCH]] }),
    sign({ body, signed: { body: '{}' } }),
    sign({ target: `${LIST}?customerReferenceId=${SEARCH}&status=${SEARCH}` }),
    sign({ target: `${LIST}?customerReferenceId=${REFERENCE}` }),
    sign({ target: `${LIST}?${SEARCH}` }),
    sign({ target: `${LIST}/${SEARCH}` }),
    sign({ target: `/${SEARCH}` }),
    sign({ target: `/%zz${SEARCH}` }),
    sign({ signed: { target: `${LIST}?${SEARCH}` } }),
    unsigned('x-mp-passphrase'),
    unsigned('x-mp-key-id'),
    unsigned('x-mp-timestamp'),
    render({ method: 'GET', target: `/docs/errors/${SEARCH}` }),
    Buffer.from(`GET /${SEARCH} ${SEARCH}\r\n\r\n`),
  ];
  const before = requestLines().length;
  const ids: unknown[] = [];
  for (const bytes of requests) {
    const { answers } = await host.converse(bytes, 1);
    for (const { headers } of answers) ids.push(headers['x-request-id']);
  }
  const path = `/external/partner/payments?search=${SEARCH}`;
  const report = await send(service, partner, { path });
  ids.push(report.headers['x-request-id']);

  expect(ids).toHaveLength(requests.length + 1);
  await vi.waitFor(() => expect(requestLines()).toHaveLength(before + ids.length), SOON);
  const logged = requestLines().map(({ reqId }) => reqId);
  expect(logged.slice(before).sort()).toEqual(ids.sort());

  const signatures = requests.flatMap(
    bytes => /x-mp-signature: (\w+)/.exec(bytes.toString('latin1'))?.[1] ?? [],
  );
  const log = JSON.stringify(service.logs);
  for (const secret of [...PRIVATE, ...signatures, ...credentials(shop), ...credentials(partner)]) {
    expect(log).not.toContain(secret);
    expect(log).not.toContain(encodeURIComponent(secret));
  }
});

test('a line says who requested what, and the result', async () => {
  const before = requestLines().length;
  await host.ask({ body: '{"amount":5000}' });
  await host.ask({ target: `${LIST}?limit=0` });
  await host.ask({ target: LIST, signed: { target: '/' } });
  await vi.waitFor(() => expect(requestLines()).toHaveLength(before + 3), SOON);
  const common = { level: 'info', address: '127.0.0.1', milliseconds: expect.any(Number) };
  const { keyId } = host.shop;
  expect(requestLines().slice(before)).toEqual([
    expect.objectContaining({ ...common, method: 'POST', route: CREATE, status: 201, keyId }),
    expect.objectContaining({ ...common, route: LIST, status: 400, errorCode: 'E1001', keyId }),
    // A key that was not authenticated is not named.
    expect.not.objectContaining({ keyId }),
  ]);
  expect(requestLines().at(-1)).toMatchObject({ ...common, status: 401, errorCode: 'E2007' });
});
