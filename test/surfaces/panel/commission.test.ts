import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setMerchant } from '#accounts/merchants.ts';
import { readPublicKeys } from '#reports/evidence/keys.ts';
import { foldPartnerDeltas } from '#storage/repositories/partners/deltas.ts';
import { formatDollars } from '#surfaces/pages/format-dollars.ts';
import { mpHere } from '../../cli/mp.ts';
import {
  addMerchant,
  addPartner,
  type MerchantWithKey,
  operatorOf,
} from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPartnerUser, HOST, open, textOf, type Visitor } from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';
import { createPrompt } from '../../helpers/prompts.ts';
import { simulate } from '../../helpers/simulate.ts';

let service: TestApp;
let shop: MerchantWithKey;
let owner: Visitor;
let path: string;
let folder: string;

/** The service's clock: a month begins; the last payments of the previous one are an instant before. */
const NOW = Date.parse('2026-11-01T02:00:00.000Z');

beforeAll(async () => {
  service = await startTestApp();
  service.clock.now = NOW;
  folder = await mkdtemp(join(tmpdir(), 'eps-commission-'));
  const { partner } = await addPartner(service);
  shop = await addMerchant(service, { name: '=HYPERLINK("x")', partnerId: partner.id });
  const other = await addMerchant(service, { name: 'Other', partnerId: partner.id });
  owner = await addPartnerUser(service, partner.id, 'owner');
  path = `/panel/partners/${partner.id}/commission`;
  const paid = { status: 'successful', session_status: 'completed' } as const;
  for (const [merchant, at, amount, commission] of [
    [shop.merchant, '2026-10-31T23:59:59.999Z', 10_000, 150],
    [shop.merchant, '2026-10-01T00:00:00.000Z', 333, 5],
    [other.merchant, '2026-10-15T12:00:00.000Z', 7_000, 0],
    [shop.merchant, '2026-09-30T23:59:59.999Z', 40_000, 600],
    [shop.merchant, '2026-11-01T00:00:00.000Z', 90_000, 1_350],
  ] as const) {
    const times = { created_at: new Date(at), paid_at: new Date(at) };
    await addPayment(service.db, merchant, {
      ...paid,
      ...times,
      amount,
      commission_amount: commission,
    });
  }
  // Part of it is folded, the rest is not.
  await foldPartnerDeltas(service.db, 2);
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

function download(address: string, site = 'same-origin', method: 'GET' | 'HEAD' = 'GET') {
  const headers = { host: HOST, cookie: owner.cookie, 'sec-fetch-site': site };
  return service.app.inject({ method, url: address, headers });
}

const audits = async (action: string) =>
  (await service.db.selectFrom('audit_log').select('id').where('action', '=', action).execute())
    .length;

test('a month contains what was paid in it, to the instant, and says who owes what', async () => {
  const text = textOf(await open(service, `${path}?month=2026-10`, owner));
  expect(text).toContain('Volume $173.33');
  expect(text).toContain('For 2026-10 your merchants owe the operator of this service $1.55');
  expect(text).toContain('This month is finished.');
  const before = textOf(await open(service, `${path}?month=2026-09`, owner));
  expect(before).toContain('Volume $400.00');
  expect(before).toContain('service $6.00');
});

test('the current month comes first, is unfinished, and has no signature', async () => {
  const page = await open(service, path, owner);
  expect(textOf(page)).toContain('This month is not finished');
  expect(textOf(page)).toContain('service $13.50');
  expect(
    [...page.body.matchAll(/<option value="(20\d\d-\d\d)"/g)].map(([, month]) => month),
  ).toEqual(['2026-11', '2026-10', '2026-09']);
  expect(page.body).not.toContain('commission.json');
  const refused = await download(`${path}.json?month=2026-11`);
  expect(refused.headers.location).toBe(`${path}?month=2026-11`);
  expect(await audits('commission.evidence')).toBe(0);
});

test('a month is signed an hour after its end', async () => {
  const status = async () => (await download(`${path}.json?month=2026-10`)).statusCode;
  service.clock.now = Date.parse('2026-11-01T00:59:59.999Z');
  expect(await status()).toBe(303);
  service.clock.now += 1;
  expect(await status()).toBe(200);
  service.clock.now = NOW;
});

test('nobody owes anything for a month without payments', async () => {
  const text = textOf(await open(service, `${path}?month=2026-08`, owner));
  expect(text).toContain('No merchant was paid in this month.');
  expect(text).toContain('For 2026-08 nobody owes a commission.');
});

test('the file has cents, who owes whom, and no formula', async () => {
  const { body, headers } = await download(`${path}.csv?month=2026-10`);
  expect(headers['content-disposition']).toBe('attachment; filename="commission-2026-10.csv"');
  const [titles, first, second, end] = body.split('\r\n');
  expect(titles).toBe(
    '\uFEFF"month","merchantId","merchantName","payments","volumeCents","commissionCents","owedBy","owedTo"',
  );
  const name = `"'=HYPERLINK(""x"")"`;
  expect(first).toBe(
    `"2026-10","${shop.merchant.id}",${name},2,10333,155,${name},"operator of the service"`,
  );
  expect(second).toMatch(/"Other",1,7000,0,,$/);
  expect(end).toBe('');
  expect(await audits('commission.export')).toBe(1);
});

test('the signature matches the file byte for byte, with the guide’s command', async () => {
  const csv = (await download(`${path}.csv?month=2026-10`)).rawPayload;
  const { body, headers } = await download(`${path}.json?month=2026-10`);
  expect(headers['content-disposition']).toBe('attachment; filename="commission-2026-10.json"');
  const sums = { merchants: 2, payments: 3, volumeCents: 17_333, commissionCents: 155 };
  expect(JSON.parse(body).evidence).toMatchObject({
    commission: { month: '2026-10', ...sums },
    file: { bytes: csv.length, sha256: createHash('sha256').update(csv).digest('hex') },
  });
  const fileOf = (name: string) => join(folder, name);
  await writeFile(fileOf('signed.json'), body);
  await writeFile(
    fileOf('changed.json'),
    body.replace('"commissionCents": 155', '"commissionCents": 15'),
  );
  await writeFile(fileOf('keys.json'), JSON.stringify(await readPublicKeys(service.db)));
  await writeFile(fileOf('month.csv'), csv);
  await writeFile(fileOf('changed.csv'), `${csv}\r\n`);
  const verify = (document: string, file: string) =>
    mpHere(
      [
        ...['evidence', 'verify', fileOf(document), '--csv', fileOf(file)],
        ...['--keys', fileOf('keys.json'), '--json'],
      ],
      {},
    );
  const right = await verify('signed.json', 'month.csv');
  expect(JSON.parse(right.out)).toMatchObject({ valid: true, month: '2026-10', ...sums });
  expect((await verify('signed.json', 'changed.csv')).err).toContain(
    'not the file that was signed',
  );
  expect((await verify('changed.json', 'month.csv')).err).toContain('The signature does not fit');
});

test('only our own pages can open the files, and HEAD is not audited', async () => {
  const taken = await audits('commission.evidence');
  for (const file of ['csv', 'json']) {
    const address = `${path}.${file}?month=2026-10`;
    expect((await download(address, 'cross-site')).statusCode, file).toBe(403);
    const head = await download(address, 'same-origin', 'HEAD');
    expect([head.statusCode, head.body], file).toEqual([200, '']);
  }
  expect(await audits('commission.evidence')).toBe(taken);
});

test('files and signatures are six an hour for a person together', async () => {
  const { partner } = await addPartner(service);
  const visitor = await addPartnerUser(service, partner.id, 'owner');
  const take = async (file: string, method: 'GET' | 'HEAD' = 'GET') => {
    const headers = { host: HOST, cookie: visitor.cookie, 'sec-fetch-site': 'same-origin' };
    const url = `/panel/partners/${partner.id}/commission.${file}?month=2026-10`;
    return (await service.app.inject({ method, url, headers })).statusCode;
  };
  for (let taken = 0; taken < 7; taken++) expect(await take('json', 'HEAD')).toBe(200);
  for (let taken = 0; taken < 3; taken++) {
    expect(await take('json')).toBe(200);
    expect(await take('csv')).toBe(200);
  }
  const before = await audits('commission.evidence');
  expect(await take('json')).toBe(429);
  expect(await take('csv')).toBe(429);
  expect(await audits('commission.evidence')).toBe(before);
});

test.each(['2026-13', '0000-01', '1999-12', '2026-1', 'x', ''])('%o is no month', async month => {
  const page = await open(service, `${path}?month=${month}`, owner);
  expect(textOf(page)).toContain('For 2026-11');
  for (const file of ['csv', 'json']) {
    const { statusCode, headers } = await download(`${path}.${file}?month=${month}`);
    expect([statusCode, headers.location], file).toEqual([303, path]);
  }
});

test('a rate changed within a month applies to payments created after that', async () => {
  for (const commissionBps of [100, 1_000]) {
    const { prompt } = await createPrompt(service, shop, { amount: 1_000 });
    await setMerchant(operatorOf(service), shop.merchant.id, { commissionBps });
    await simulate(service, prompt.id, 'confirm', new Date(service.clock.now));
  }
  const { commission_bps: first } = shop.merchant;
  const cents = 1_350 + (1_000 * first) / 10_000 + 10;
  const text = textOf(await open(service, path, owner));
  expect(text).toContain(
    `For 2026-11 your merchants owe the operator of this service ${formatDollars(cents)}`,
  );
});
