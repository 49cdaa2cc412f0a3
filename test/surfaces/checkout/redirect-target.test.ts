import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Payment } from '#storage/database/payment-tables.ts';
import { redirectTarget } from '#surfaces/checkout/checkout.ts';
import { addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';

let service: TestApp;
let payment: Payment;

beforeAll(async () => {
  service = await startTestApp();
  const { merchant } = await addMerchant(service);
  payment = await addPayment(service.db, merchant, { created_at: new Date(service.clock()) });
});

afterAll(() => service?.close());

const RETURNED = ['promptId', 'status'];

function target(redirectUrl: string): string {
  const url = redirectTarget({ ...payment, redirect_url: redirectUrl });
  if (url === null) throw new Error('no target');
  return url;
}

test('without a redirectUrl there is no way back', () => {
  expect(redirectTarget({ ...payment, redirect_url: null })).toBeNull();
});

describe('the way back is the merchant’s URL, with promptId and status', () => {
  test.each([
    ['https://shop.example', 'https://shop.example/?ID'],
    ['https://shop.example/a?', 'https://shop.example/a?ID'],
    ['https://shop.example/a?order=7', 'https://shop.example/a?order=7&ID'],
    ['https://shop.example/a#done', 'https://shop.example/a?ID#done'],
    ['https://shop.example/?a=1&a=2#x?y=z', 'https://shop.example/?a=1&a=2&ID#x?y=z'],
    ['https://shop.example/?q=a%20b+c&flag&e=', 'https://shop.example/?q=a%20b+c&flag&e=&ID'],
    ['https://shop.example/?broken=%E0%A4%A', 'https://shop.example/?broken=%E0%A4%A&ID'],
    ['https://shop.example/?status=mine&a=1&promptId=x', 'https://shop.example/?a=1&ID'],
    ['https://shop.example/?st%61tus=mine&a=1', 'https://shop.example/?a=1&ID'],
    ['http://localhost:8080/b', 'http://localhost:8080/b?ID'],
  ])('%s', (redirectUrl, expected) => {
    const added = `promptId=${payment.id}&status=pending`;
    expect(target(redirectUrl)).toBe(expected.replace('ID', added));
  });

  test('any query and fragment are kept as they are', () => {
    const name = fc.string({ minLength: 1 }).filter(text => !RETURNED.includes(text));
    const pairs = fc.array(fc.tuple(name, fc.string({ unit: 'grapheme' })));
    const encode = fc.constantFrom(
      (text: string) => encodeURIComponent(text),
      (text: string) => new URLSearchParams([[text, '']]).toString().slice(0, -1),
    );
    fc.assert(
      fc.property(pairs, encode, fc.webFragments(), fc.webPath(), (query, write, hash, path) => {
        const search = query.map(([key, value]) => `${write(key)}=${write(value)}`).join('&');
        const before = new URL(`https://shop.example${path || '/'}?${search}#${hash}`);
        const after = new URL(target(before.href));

        expect(after.origin + after.pathname).toBe(before.origin + before.pathname);
        expect(after.hash).toBe(before.hash);
        expect(after.search.startsWith(before.search === '' ? '?' : `${before.search}&`)).toBe(
          true,
        );
        expect([...after.searchParams]).toEqual([
          ...before.searchParams,
          ['promptId', payment.id],
          ['status', 'pending'],
        ]);
      }),
      { numRuns: 40 },
    );
  });
});
