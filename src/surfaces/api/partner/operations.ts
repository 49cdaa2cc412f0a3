import { TREND_DAYS } from '#time/days.ts';
import type { Operation } from '../operation.ts';
import { PAYMENT_ID } from '../v1/examples.ts';
import {
  FILTERS,
  MERCHANT_DETAIL,
  MERCHANT_ID,
  MERCHANT_PAGE,
  OVERVIEW,
  PAYMENT_PAGE,
  PAYMENT_ROW,
  TEAM,
} from './examples.ts';

export const READ_OVERVIEW: Operation = {
  id: 'readPartnerOverview',
  tag: 'partners',
  summary: 'Read the overview',
  description: `Totals of all merchants, merchants that need attention, and the volume of each of the last ${TREND_DAYS} UTC days, today included, oldest first.`,
  example: { response: OVERVIEW },
};

export const LIST_MERCHANTS: Operation = {
  id: 'listPartnerMerchants',
  tag: 'partners',
  summary: 'List merchants',
  description: 'The merchants assigned to the partner with their totals, newest first.',
  example: { query: { page: 1, limit: 20, search: 'coffee' }, response: MERCHANT_PAGE },
};

export const READ_MERCHANT: Operation = {
  id: 'readPartnerMerchant',
  tag: 'partners',
  summary: 'Read a merchant',
  description: 'One merchant with its branches, its totals and its latest payments.',
  example: { params: { merchantId: MERCHANT_ID }, response: MERCHANT_DETAIL },
};

export const LIST_PARTNER_PAYMENTS: Operation = {
  id: 'listPartnerPayments',
  tag: 'partners',
  summary: 'List payments of all merchants',
  description: `Payments of the partner's merchants, newest first.

Filters by part of a text ignore case. \`search\` matches merchant name and ID, payment ID, address, transaction hash and customer reference. \`total\` is exact; what cannot be counted in time is refused with E5002 and \`Retry-After\`.`,
  example: {
    query: { page: 1, limit: 20, status: 'successful', startDate: '2026-05-01' },
    response: PAYMENT_PAGE,
  },
};

export const READ_PARTNER_PAYMENT: Operation = {
  id: 'readPartnerPayment',
  tag: 'partners',
  summary: 'Read a payment of a merchant',
  description: 'One payment as in the list: in dollars, with address, branch and merchant.',
  example: { params: { paymentId: PAYMENT_ID }, response: PAYMENT_ROW },
};

export const READ_FILTERS: Operation = {
  id: 'readPartnerPaymentFilters',
  tag: 'partners',
  summary: 'Read the values of payment filters',
  description:
    "The partner's merchants, and the networks in its payment history, whether or not they are active now.",
  example: { response: FILTERS },
};

export const READ_TEAM: Operation = {
  id: 'readPartnerTeam',
  tag: 'partners',
  summary: 'List members',
  description: "The partner's members.",
  example: { response: TEAM },
};
