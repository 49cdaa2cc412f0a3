import { randomUUID } from 'node:crypto';
import type { BenchMerchant } from './merchants.ts';
import type { RequestToSend, Traffic } from './signed-requests.ts';

const PAYMENTS = '/external/v1/payments';
/** Rows of a list. */
export const PAGE = 10;
type ForMerchant = (merchant: BenchMerchant) => RequestToSend;

const get: ForMerchant = ({ credentials, payments }) => {
  const id = draw(payments);
  return { method: 'GET', path: `${PAYMENTS}/${id}`, credentials, response: `G${id}` };
};

const listFirst: ForMerchant = ({ credentials, payments: [first = ''] }) => ({
  method: 'GET',
  path: `${PAYMENTS}?limit=${PAGE}`,
  credentials,
  response: `L${first}`,
});

const listBehindCursor: ForMerchant = ({ credentials, payments }) => {
  // Far enough from the end for another page to follow.
  const at = Math.floor(Math.random() * (payments.length - 2 * PAGE));
  return {
    method: 'GET',
    path: `${PAYMENTS}?limit=${PAGE}&startingAfter=${payments[at]}`,
    credentials,
    response: `L${payments[at + 1]}`,
  };
};

const create: ForMerchant = ({ credentials }) => {
  const reference = randomUUID();
  return {
    method: 'POST',
    path: `${PAYMENTS}/prompt`,
    body: JSON.stringify({ amount: 4_950, customerReferenceId: reference }),
    idempotencyKey: randomUUID(),
    credentials,
    response: `C${reference}`,
  };
};

/** Every refusal has this response, since nothing in an error's envelope identifies its request. */
const REFUSED = `R${'0'.repeat(randomUUID().length)}` as const;

/** Reads without signing headers, which are refused with E2001. */
export const unsigned = (): Traffic => () => ({
  method: 'GET',
  path: PAYMENTS,
  credentials: null,
  response: REFUSED,
});
/** Reads by ID, of all merchants in turn. */
export const gets = (merchants: readonly BenchMerchant[]) => inTurn(merchants, get);
/** First pages of lists; valid until something is created. */
export const firstPages = (merchants: readonly BenchMerchant[]) => inTurn(merchants, listFirst);
/** Pages of lists behind a cursor. */
export const cursorPages = (merchants: readonly BenchMerchant[]) =>
  inTurn(merchants, listBehindCursor);
/** Creations, each with its own idempotency key. */
export const creates = (merchants: readonly BenchMerchant[]) => inTurn(merchants, create);
/** A shop's day: far more lookups than creations. */
export const MIXTURE = [
  { name: 'GET', kind: 'G', share: 0.8, traffic: gets },
  { name: 'list', kind: 'L', share: 0.15, traffic: cursorPages },
  { name: 'create', kind: 'C', share: 0.05, traffic: creates },
] as const;

/** The whole mixture on the same connections. */
export function mixture(merchants: readonly BenchMerchant[]): Traffic {
  const parts = MIXTURE.map(({ share, traffic }) => ({ share, next: traffic(merchants) }));
  // The sum of the shares may be slightly below one.
  const rest = gets(merchants);
  return () => {
    let chance = Math.random();
    const drawn = parts.find(({ share }) => {
      chance -= share;
      return chance < 0;
    });
    return (drawn?.next ?? rest)();
  };
}

function inTurn(merchants: readonly BenchMerchant[], next: ForMerchant): Traffic {
  let turn = 0;
  return () => {
    const merchant = merchants[turn++ % merchants.length];
    if (merchant === undefined) throw new Error('there are no merchants');
    return next(merchant);
  };
}

function draw(ids: readonly string[]): string {
  const id = ids[Math.floor(Math.random() * ids.length)];
  if (id === undefined) throw new Error('a merchant has no payments');
  return id;
}
