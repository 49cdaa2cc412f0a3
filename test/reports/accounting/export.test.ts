import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dismissDeposit } from '#onchain/settlement/inbox.ts';
import { valueDeposits } from '#onchain/settlement/value-deposits.ts';
import { commissionCents } from '#payments/commission.ts';
import { accountingFile, type Format, readRows } from '#reports/accounting/file.ts';
import type { AccountingRow } from '#reports/accounting/rows.ts';
import { readPublicKeys } from '#reports/evidence/keys.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { listMerchantMonths } from '#storage/repositories/partners/months.ts';
import { addMonths, startOfMonth, utcMonth } from '#time/months.ts';
import { mpHere, type Operated, startOperated } from '../../cli/mp.ts';
import {
  addMerchant,
  addPartner,
  type MerchantWithKey,
  operatorOf,
} from '../../helpers/accounts.ts';
import { addMerchantUser, addSession, HOST, open, type Visitor } from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';
import { createPrompt } from '../../helpers/prompts.ts';
import { simulate } from '../../helpers/simulate.ts';

const GUIDE = resolve(import.meta.dirname, '../../../src/surfaces/docs/guides/evidence.md');
/** A month that had ended when this was written. */
const MONTH = '2026-05';
const [START, END] = [startOfMonth(MONTH).getTime(), startOfMonth(addMonths(MONTH, 1)).getTime()];
/** Far enough back that the current time is in a finished month. */
const DAYS_BACK = 70 * 24 * 60 * 60_000;

let service: Operated;
let partnerId: string;
let folder: string;

beforeAll(async () => {
  service = await startOperated();
  service.clock.now = -DAYS_BACK;
  partnerId = (await addPartner(service)).partner.id;
  folder = await mkdtemp(join(tmpdir(), 'eps-accounting-'));
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const fileOf = (name: string) => join(folder, name);

async function textOfMonth(
  { merchant }: Pick<MerchantWithKey, 'merchant'>,
  month: string,
  format: Format,
): Promise<string> {
  const deps = { ...service, reports: service.db, publicUrl: 'https://pay.example.test' };
  let text = '';
  for await (const part of accountingFile(deps, merchant, month, format)) text += part.text;
  return text;
}

/** Cells of a CSV file with quoted text and unquoted numbers. */
function parseCsv(text: string): (string | number | null)[][] {
  return text
    .replace('\uFEFF', '')
    .split('\r\n')
    .slice(0, -1)
    .map(line =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|(\d*))/g)].map(([, quoted, number]) =>
        quoted === undefined
          ? number === ''
            ? null
            : Number(number)
          : quoted.replaceAll('""', '"').replace(/^'(?==)/, ''),
      ),
    );
}

/** The rows of a file of JSON lines, without its signature. */
function parseLines(text: string): AccountingRow[] {
  return text
    .split('\n')
    .slice(0, -2)
    .map(line => JSON.parse(line));
}

const sumOf = (rows: readonly AccountingRow[], type: string) =>
  rows.filter(row => row.type === type).reduce((sum, row) => sum + (row.amountCents ?? 0), 0);

const EDGES = [START - 1, START, START + 1, END - 1, END, END + 1];
const instant = fc.oneof(fc.constantFrom(...EDGES), fc.integer({ min: START, max: END - 1 }));
const terms = fc.record({
  kind: fc.constantFrom('standard', 'us'),
  settlement: fc.constantFrom('split', 'direct'),
  payer: fc.constantFrom('merchant', 'shopper'),
  bps: fc.constantFrom(0, 1, 150, 10_000),
});
const payment = fc.record({
  at: instant,
  amount: fc.integer({ min: 50, max: 100_000_000 }),
  isPaid: fc.boolean(),
  received: fc.bigInt({ min: 1n, max: 10n ** 24n }),
  reference: fc.constantFrom(null, '=1+1', 'order "7", paid'),
});
const deposit = fc.record({
  at: instant,
  remedy: fc.constantFrom('returned', 'kept', 'other', null),
  units: fc.bigInt({ min: 1n, max: 10n ** 24n }),
  cents: fc.option(fc.nat(1_000_000)),
  state: fc.constantFrom('final', 'reversed'),
});

/** A part of a payment that has ended without the rest. */
const part = fc.record({
  at: instant,
  units: fc.bigInt({ min: 1n, max: 10n ** 24n }),
  cents: fc.option(fc.nat(1_000_000)),
  /** How long after that its return was recorded, in milliseconds; null for none. */
  returnedAfter: fc.option(fc.constantFrom(1, 60_000, END - START)),
});

type Part = typeof part extends fc.Arbitrary<infer P> ? P : never;
type Deposit = typeof deposit extends fc.Arbitrary<infer D> ? D : never;

/** Inserts a dismissed deposit at an address. */
async function addDismissed(address: string, { at, remedy, units, cents, state }: Deposit) {
  const isReturned = remedy === 'returned';
  const id = uuidv7();
  await service.db
    .insertInto('deposits')
    .values({
      id,
      blockchain_id: 'eth',
      transaction_hash: `0x${id}`,
      position: 0,
      address,
      token_amount: units,
      state,
      outcome: 'unknown',
      dismissed_at: new Date(at),
      remedy,
      observed_at: new Date(START - 5),
      updated_at: new Date(at),
      value_cents: cents,
      remedy_to: isReturned ? '0x1' : null,
      remedy_hash: isReturned ? `0xback${id}` : null,
    })
    .execute();
  return { id, isReturned };
}

/** Inserts a part that is booked, and its return. */
async function addPart(merchant: Merchant, { at, units, cents, returnedAfter }: Part) {
  const id = uuidv7();
  const { id: payment_id } = await addPayment(service.db, merchant, {
    status: 'unsuccessful',
    session_status: 'completed',
    created_at: new Date(START - 60_000),
  });
  const booked = { deposit_id: id, merchant_id: merchant.id };
  await service.db
    .insertInto('deposits')
    .values({
      id,
      blockchain_id: 'eth',
      transaction_hash: `0x${id}`,
      position: 0,
      address: 'of a part',
      token_amount: units,
      state: 'final',
      outcome: 'under',
      payment_id,
      value_cents: cents,
      observed_at: new Date(START - 5),
      updated_at: new Date(at),
    })
    .execute();
  await service.db
    .insertInto('booked_deposits')
    .values({ ...booked, booked_at: new Date(at) })
    .execute();
  if (returnedAfter === null) return;
  await service.db
    .insertInto('booked_returns')
    .values({
      ...booked,
      booked_at: new Date(at + returnedAfter),
      returned_to: '0x1',
      transaction_hash: `0xback${id}`,
    })
    .execute();
}

const isWithin = ({ at }: { readonly at: number }) => at >= START && at < END;

test('any month adds up to the reports, and both formats agree', async () => {
  const months = fc.tuple(
    terms,
    fc.array(payment, { maxLength: 12 }),
    fc.array(deposit, { maxLength: 6 }),
    fc.array(part, { maxLength: 4 }),
  );
  const property = fc.asyncProperty(months, async ([given, payments, deposits, parts]) => {
    const { kind, settlement, payer, bps } = given;
    const shop = await addMerchant(service, {
      partnerId,
      kind,
      settlement,
      commissionPayer: payer,
      commissionBps: bps,
      addresses: {},
    } as Parameters<typeof addMerchant>[1]);
    const { merchant } = shop;
    const address = `0x${merchant.id}`;
    await sql`insert into account_addresses values ('eth', ${address}, ${merchant.id})`.execute(
      service.db,
    );
    const isDirect = kind === 'standard' && settlement === 'direct';
    const charged = (amount: number) => (isDirect ? 0 : commissionCents(amount, bps));
    for (const { at, amount, isPaid, received, reference } of payments) {
      const onChain = kind === 'standard';
      const { id } = await addPayment(service.db, merchant, {
        amount,
        created_at: new Date(START - 60_000),
        customer_reference_id: reference,
        ...(isPaid && { status: 'successful', session_status: 'completed', paid_at: new Date(at) }),
        ...(onChain && { blockchain_id: 'eth', token_amount: received, token_decimals: 18 }),
        commission_amount: charged(amount),
      });
      if (!onChain || !isPaid) continue;
      await sql`
        insert into deposits select ${uuidv7()}, 'eth', ${`0x${id}`}, 0, 'of a payment', ${received.toString()}::numeric,
          1, 'final', 'exact', ${id}, null, ${new Date(at)}, ${new Date(at)}`.execute(service.db);
    }
    const dismissed = deposits.filter(each => isWithin(each) && each.state === 'final');
    for (const each of deposits) await addDismissed(address, each);
    for (const each of parts) await addPart(merchant, each);
    const booked = parts.filter(isWithin);
    const returned = parts.filter(
      ({ at, returnedAfter }) => returnedAfter !== null && isWithin({ at: at + returnedAfter }),
    );

    const lines = await textOfMonth(shop, MONTH, 'jsonl');
    const rows = parseLines(lines);
    const paid = payments.filter(each => each.isPaid && isWithin(each));
    const days = { first: `${MONTH}-01`, end: `${addMonths(MONTH, 1)}-01` };
    const [reported] = (
      await listMerchantMonths(service.db, partnerId, days, { limit: 10_000 })
    ).filter(each => each.merchantId === merchant.id);
    const { volumeCents = 0, commissionCents: owed = 0, payments: count = 0 } = reported ?? {};
    expect(sumOf(rows, 'payment')).toBe(volumeCents);
    expect(sumOf(rows, 'commission')).toBe(owed);
    expect(rows.filter(({ type }) => type === 'payment')).toHaveLength(count);
    // The reports are right as well.
    expect(volumeCents).toBe(paid.reduce((sum, { amount }) => sum + amount, 0));
    expect(owed).toBe(paid.reduce((sum, { amount }) => sum + charged(amount), 0));

    const kept = dismissed.filter(({ remedy }) => remedy !== 'returned');
    const cents = (some: readonly (Deposit | Part)[]) =>
      some.reduce((sum, each) => sum + (each.cents ?? 0), 0);
    const left = cents(kept) + cents(booked) - cents(returned);
    expect(sumOf(rows, 'deposit') - sumOf(rows, 'return')).toBe(left);
    const deposited = dismissed.length + booked.length;
    expect(rows.filter(({ type }) => type === 'deposit')).toHaveLength(deposited);

    // What the merchant keeps is what came in minus what went out.
    const net = rows.reduce((sum, { direction, amountCents }) => {
      const sign = { in: 1, out: -1, through: 0 }[direction];
      return sum + sign * (amountCents ?? 0);
    }, 0);
    expect(net).toBe(volumeCents - (payer === 'merchant' ? owed : 0) + left);

    // Paging returns the same rows, however small the pages are.
    const paged = [];
    for await (const page of readRows(service.db, merchant, MONTH, 2)) paged.push(...page);
    expect(paged).toEqual(rows);

    const places = rows.map(({ at, id }) => `${at} ${id}`);
    expect(places).toEqual(places.toSorted());
    expect(new Set(rows.map(({ type, id }) => `${type} ${id}`)).size).toBe(rows.length);
    const [titles = [], ...cells] = parseCsv(await textOfMonth(shop, MONTH, 'csv'));
    expect(cells.map(line => Object.fromEntries(line.map((cell, n) => [titles[n], cell])))).toEqual(
      rows,
    );
    expect(JSON.parse(lines.split('\n').at(-2) ?? '')).toMatchObject({
      evidence: {
        merchantId: merchant.id,
        accounting: { month: MONTH, rows: rows.length, volumeCents, commissionCents: owed },
      },
    });
  });
  const edges: typeof months extends fc.Arbitrary<infer M> ? M : never = [
    { kind: 'standard', settlement: 'split', payer: 'shopper', bps: 150 },
    EDGES.map(at => ({ at, amount: 5_000, isPaid: true, received: 1n, reference: null })),
    EDGES.map(at => ({ at, remedy: 'returned', units: 1n, cents: 7, state: 'final' })),
    EDGES.map(at => ({ at, units: 1n, cents: 11, returnedAfter: 1 })),
  ];
  await fc.assert(property, { numRuns: 12, examples: [[edges]], endOnFailure: true });
});

describe('a month of a shop', () => {
  let shop: MerchantWithKey;
  let ada: Visitor;
  let month: string;
  let depositId: string;
  const now = () => new Date(service.clock());

  beforeAll(async () => {
    shop = await addMerchant(service, { commissionPayer: 'shopper', commissionBps: 150 });
    ada = await addMerchantUser(service, shop.merchant.id, 'admin');
    month = utcMonth(now());
    const ask = () => createPrompt(service, shop, { amount: 5_000, customerReferenceId: '=1+1' });
    await simulate(service, (await ask()).prompt.id, 'over', now(), 'eth');
    const { deposits } = await simulate(service, (await ask()).prompt.id, 'late', now(), 'eth');
    depositId = deposits.at(-1)?.id ?? '';
    await valueDeposits(service.db, service.rates, now(), 100);
    const returned = { remedy: 'returned', to: '0x1', hash: '0xback' } as const;
    await dismissDeposit(operatorOf(service), depositId, returned);
    // The clock of `mp` agrees.
    service.clock.now = 0;
  });

  test('has what arrived, what was asked for and at which price', async () => {
    const rows = parseLines(await textOfMonth(shop, month, 'jsonl'));
    const [payment] = rows;
    expect(rows).toMatchObject([
      {
        type: 'payment',
        direction: 'in',
        amountCents: 5_000,
        settlementModel: 'split',
        merchantId: shop.merchant.id,
        environment: 'live',
        commissionPayer: null,
        blockchainId: 'eth',
        asset: 'ETH',
        customerReferenceId: '=1+1',
        remedy: null,
        // $50.75, the lowest distinct amount above it, and one per cent too much.
        quotedAmount: '0.01268751',
        assetAmount: '0.0128143851',
        priceAtQuote: '3999.996847293125286206',
        priceAtFinality: '4000',
        pricedAt: expect.any(String),
      },
      {
        type: 'commission',
        direction: 'through',
        amountCents: 75,
        id: payment?.id,
        commissionPayer: 'shopper',
        assetAmount: null,
        priceAtQuote: null,
        at: payment?.at,
        transactionHash: payment?.transactionHash,
      },
      {
        type: 'deposit',
        direction: 'in',
        id: depositId,
        amountCents: 5_075,
        assetAmount: '0.01268752',
        priceAtQuote: null,
        priceAtFinality: '4000',
        remedy: 'returned',
      },
      {
        type: 'return',
        direction: 'out',
        id: depositId,
        amountCents: 5_075,
        assetAmount: '0.01268752',
        transactionHash: '0xback',
      },
    ]);
    expect(payment?.transactionHash).toMatch(/^0x/);
  });

  test('is exported by mp, which verifies its signature over every byte', async () => {
    const flags = ['export', 'accounting', '--merchant', shop.merchant.id, '--month', month];
    const out = fileOf('month.jsonl');
    const written = await mpHere([...flags, '--format', 'jsonl', '--out', out], service.env);
    expect(written).toEqual({ status: 0, out: '', err: '' });
    const { out: csv } = await mpHere(flags, service.env);
    expect(csv).toBe(await textOfMonth(shop, month, 'csv'));

    const verify = (file: string) => mpHere(['evidence', 'verify', file, '--json'], service.env);
    expect(JSON.parse((await verify(out)).out)).toMatchObject({
      valid: true,
      merchantId: shop.merchant.id,
      environment: 'live',
      month,
      rows: 4,
      volumeCents: 5_000,
      commissionCents: 75,
    });
    const text = await readFile(out, 'utf8');
    const changes: readonly (readonly [string, string])[] = [
      ['cents', text.replace('"amountCents":5000', '"amountCents":5001')],
      ['a blank', text.replace('\n', ' \n')],
      ['a line less', text.slice(text.indexOf('\n') + 1)],
      ['no lines', text.slice(text.lastIndexOf('\n', text.length - 2) + 1)],
      ['a line more', `${text.slice(0, text.indexOf('\n') + 1)}${text}`],
      ['the sum', text.replace('"commissionCents":75', '"commissionCents":74')],
      ['the end', `${text}{}\n`],
      ['no signature', text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1)],
    ];
    for (const [what, changed] of changes) {
      expect(changed, what).not.toBe(text);
      await writeFile(fileOf('changed.jsonl'), changed);
      const { status, err } = await verify(fileOf('changed.jsonl'));
      expect([status, err.includes('proves nothing')], what).toEqual([1, true]);
    }
  });

  test('can be verified without mp, as the guide says', async () => {
    const guide = await readFile(GUIDE, 'utf8');
    await writeFile(fileOf('verify.mjs'), /```js\n(.*?)^```$/ms.exec(guide)?.[1] ?? '');
    await writeFile(fileOf('keys.json'), JSON.stringify(await readPublicKeys(service.db)));
    const text = await textOfMonth(shop, month, 'jsonl');
    const start = text.lastIndexOf('\n', text.length - 2) + 1;
    await writeFile(fileOf('signed.json'), text.slice(start));
    const program = [fileOf('verify.mjs'), fileOf('signed.json'), fileOf('keys.json')];
    const { stdout } = await promisify(execFile)(process.execPath, program);
    const hash = createHash('sha256').update(text.slice(0, start)).digest('hex');
    expect(stdout).toBe(`${hash}\n`);
  });

  test('is refused while it is not finished', async () => {
    const flags = ['export', 'accounting', '--merchant', shop.merchant.id, '--month'];
    expect(await mpHere([...flags, '2098-12'], service.env)).toEqual({
      status: 1,
      out: '',
      err: '2098-12 is not finished: it can be exported from 2099-01-01T01:00:00.000Z on.\n',
    });
    for (const wrong of ['2026-13', '2026', 'x']) {
      expect((await mpHere([...flags, wrong])).status, wrong).toBe(2);
    }
  });

  test('can be downloaded from the panel’s payments page, and only there', async () => {
    const path = `/panel/merchants/${shop.merchant.id}/payments`;
    ada.cookie = await addSession(service, ada);
    const list = await open(service, path, ada);
    expect(list.body).toContain(`<option value="${month}"`);
    const get = (file: string, site = 'same-origin') =>
      service.app.inject({
        url: `${path}/accounting.${file}`,
        headers: { host: HOST, cookie: ada.cookie, 'sec-fetch-site': site },
      });
    const audited = async () =>
      service.db
        .selectFrom('audit_log')
        .select(['origin', 'detail'])
        .where('action', '=', 'accounting.export')
        .where('object_id', '=', shop.merchant.id)
        .orderBy('at')
        .execute();
    const before = (await audited()).length;
    for (const format of ['csv', 'jsonl'] as const) {
      const file = await get(`${format}?month=${month}`);
      expect(file.headers['content-disposition']).toBe(
        `attachment; filename="accounting-${month}.${format}"`,
      );
      const shown = (text: string) => text.replace(/"madeAt":.*/, '');
      expect(shown(file.body)).toBe(shown(await textOfMonth(shop, month, format)));
      expect((await get(`${format}?month=${month}`, 'cross-site')).statusCode).toBe(403);
      // Neither an unfinished month, nor an invalid one.
      for (const other of [`?month=${utcMonth(now())}`, '?month=2026-13', '']) {
        const { statusCode, headers } = await get(format + other);
        expect([statusCode, headers.location], other).toEqual([303, path]);
      }
    }
    expect((await audited()).slice(before).map(({ detail }) => detail)).toEqual([
      { filters: { month, format: 'csv' }, rows: 4 },
      { filters: { month, format: 'jsonl' }, rows: 4 },
    ]);
  });
});
