import { afterAll, beforeAll, expect, test } from 'vitest';
import { accountingFile } from '#reports/accounting/file.ts';
import { makeEvidence } from '#reports/evidence/document.ts';
import { readCommissionRows } from '#reports/partners/commission.ts';
import { verifyPartner } from '#reports/partners/verify-rollups.ts';
import { foldPartnerDeltas } from '#storage/repositories/partners/deltas.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import {
  ADDRESSES,
  addMerchant,
  addPartner,
  type MerchantWithKey,
  type PartnerWithKey,
} from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addPayment } from '../helpers/payments.ts';
import { createPrompt } from '../helpers/prompts.ts';
import { send } from '../helpers/signed-request.ts';

/** What a partner and an accountant read, once a test merchant's payments have been simulated. */

const MONTH = '2026-05';

let service: TestApp;
let partner: PartnerWithKey;
let live: MerchantWithKey;
let tested: MerchantWithKey;
/** A simulated payment. */
let paymentId: string;
/** What was read before the first simulation. */
let before: unknown;

beforeAll(async () => {
  service = await startTestApp();
  partner = await addPartner(service);
  const terms = { partnerId: partner.partner.id, commissionBps: 150 };
  live = await addMerchant(service, { ...terms, addresses: { btc: ADDRESSES.btc } });
  const addresses = { 'btc-test': ADDRESSES['btc-test'] };
  tested = await addMerchant(service, { ...terms, environment: 'test', addresses });
  const at = new Date(service.clock.now);
  await addPayment(service.db, live.merchant, {
    created_at: at,
    paid_at: at,
    partner_id: partner.partner.id,
    commission_amount: 15,
    status: 'successful',
    session_status: 'completed',
  });
  before = await readFigures();
  for (const played of ['confirm', 'over', 'under', 'expire']) {
    const { prompt } = await createPrompt(service, tested, { amount: 5000 });
    const path = `/external/v1/test/payments/${prompt.id}/simulate`;
    const response = await send(service, tested, { path, body: { case: played } });
    expect(response.statusCode, response.body).toBe(200);
    if (played === 'confirm') paymentId = prompt.id;
  }
});
afterAll(() => service.close());

/** The partner's volumes and commission, and the accounting of its live merchant. */
async function readFigures() {
  const read = async (path: string) => {
    const response = await send(service, partner, { path: `/external/partner${path}` });
    expect(response.statusCode, response.body).toBe(200);
    return response.json();
  };
  const commission = [];
  for await (const rows of readCommissionRows(service.db, partner.partner.id, MONTH, 10)) {
    commission.push(...rows);
  }
  const { metrics, volumeTrend } = await read('/overview');
  const { data } = await read('/merchants');
  const { aggregates } = await read(`/merchants/${tested.merchant.id}`);
  const figuresOf = ({ lastPaymentAt: _, ...figures }: Record<string, unknown>) => figures;
  const accounting = await readAccounting(live, 'csv');
  return {
    metrics,
    volumeTrend,
    merchants: data.map(figuresOf),
    aggregates,
    commission,
    accounting,
  };
}

async function readAccounting({ merchant }: MerchantWithKey, format: 'csv' | 'jsonl') {
  const deps = { ...service, reports: service.db, publicUrl: 'https://pay.example.test' };
  let text = '';
  for await (const part of accountingFile(deps, merchant, MONTH, format)) text += part.text;
  return text;
}

test('volumes, commission and the live merchant’s accounting have none of them', async () => {
  expect(await readFigures()).toEqual(before);
  expect(before).toMatchObject({
    metrics: { totalVolume: 10, totalPayments: 1 },
    commission: [{ merchantId: live.merchant.id, payments: 1, volumeCents: 1000 }],
  });
});

test('nor have they once rollups are folded, which stay exact', async () => {
  await foldPartnerDeltas(service.db, 1000);
  expect(await readFigures()).toEqual(before);
  expect(await verifyPartner(service.db, partner.partner.id)).toEqual([]);
});

test('evidence says that it is of a test merchant, signed', async () => {
  const payment = await findPayment(service.db, paymentId);
  if (payment === undefined) throw new Error('the payment is gone');
  const { evidence } = await makeEvidence({ ...service, publicUrl: 'https://pay.test' }, payment);
  expect(evidence).toMatchObject({
    environment: 'test',
    payment: { id: paymentId, status: 'successful' },
    deposits: [{ source: 'simulation' }],
  });
});

test('its own accounting says so in each row, and in what is signed', async () => {
  const lines = (await readAccounting(tested, 'jsonl')).trimEnd().split('\n');
  const rows = lines.slice(0, -1).map(line => JSON.parse(line));
  expect(rows.map(({ type }) => type)).toContain('payment');
  expect(new Set(rows.map(({ environment }) => environment))).toEqual(new Set(['test']));
  expect(JSON.parse(lines.at(-1) ?? '').evidence.environment).toBe('test');
});
