import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMerchant, addPartner } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  addPartnerUser,
  HOST,
  open,
  textOf,
  type Visitor,
} from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';

const NOW = Date.parse('2026-03-01T15:00:00Z');
/** The first of the last 366 UTC days, today included. */
const FIRST = '2025-03-01';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
  service.clock.now = NOW;
});
afterAll(() => service.close());

describe.each(['merchant', 'partner'] as const)('the file of the payments of a %s', kind => {
  let path: string;
  let visitor: Visitor;
  /** IDs by the time of creation. */
  const ids = new Map<string, string>();
  beforeAll(async () => {
    const { partner } = await addPartner(service);
    const { merchant } = await addMerchant(service, { partnerId: partner.id });
    for (const at of [
      ...['2024-01-15T12:00:00.000Z', '2025-02-28T23:59:59.999Z'],
      ...[`${FIRST}T00:00:00.000Z`, '2026-03-01T15:00:00.000Z'],
    ]) {
      const { id } = await addPayment(service.db, merchant, { created_at: new Date(at) });
      ids.set(at.slice(0, 10), id);
    }
    const isMerchant = kind === 'merchant';
    visitor = isMerchant
      ? await addMerchantUser(service, merchant.id, 'admin')
      : await addPartnerUser(service, partner.id, 'owner');
    path = `/panel/${kind}s/${isMerchant ? merchant.id : partner.id}/payments`;
  });

  /** The days of the payments in a file, newest first, and the period in the audit log. */
  async function download(query: string) {
    const { body, statusCode } = await service.app.inject({
      url: `${path}.csv${query}`,
      headers: { host: HOST, cookie: visitor.cookie, 'sec-fetch-site': 'same-origin' },
    });
    expect(statusCode).toBe(200);
    const { detail } = await service.db
      .selectFrom('audit_log')
      .select('detail')
      .where('action', '=', 'payment.export')
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow();
    const { from, to } = (detail as { filters: { from: string; to: string } }).filters;
    const days = [...ids].filter(([, id]) => body.includes(id)).map(([day]) => day);
    return { days: days.toReversed(), from, to };
  }

  test('has the last 366 days, as the page and the audit log say', async () => {
    const page = await open(service, path, visitor);
    expect(textOf(page)).toContain(
      `Download as CSV The file begins on ${FIRST} (UTC): it has at most 366 days.`,
    );
    expect(await download('')).toEqual({
      days: ['2026-03-01', FIRST],
      from: `${FIRST}T00:00:00.000Z`,
      to: '2026-03-01T15:00:00.000Z',
    });
    expect(await download('?to=2024-12-31')).toEqual({
      days: ['2024-01-15'],
      from: '2024-01-01T00:00:00.000Z',
      to: '2024-12-31T23:59:59.999Z',
    });
    // Future days do not count.
    expect((await download('?to=2030-01-01')).days).toEqual(['2026-03-01', FIRST]);
  });

  test('has all days of a list of 366, and does not exist for a list of more', async () => {
    const whole = await open(service, `${path}?from=${FIRST}`, visitor);
    expect(whole.body).toContain(`payments.csv?from=${FIRST}" download`);
    expect(textOf(whole)).not.toContain('The file begins');
    expect((await download(`?from=${FIRST}`)).days).toEqual(['2026-03-01', FIRST]);
    expect((await download('?from=2024-01-01&to=2024-12-31')).days).toEqual(['2024-01-15']);

    for (const days of ['from=2025-02-28', 'from=2023-12-31&to=2024-12-31']) {
      const page = await open(service, `${path}?${days}`, visitor);
      expect(textOf(page)).toContain('A file has at most 366 days.');
      expect(page.body).not.toContain('payments.csv');
      const file = await open(service, `${path}.csv?${days}`, visitor);
      expect(file.headers.location).toBe(`${path}?${days}`);
    }
  });
});
