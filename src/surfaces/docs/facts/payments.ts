import { HELD_FOR_MS } from '#accounts/address-holders.ts';
import { ADDRESSES_MAXIMUM } from '#accounts/allowed-addresses.ts';
import { LOGO_BYTES_MAXIMUM, LOGO_PIXELS_MAXIMUM } from '#accounts/logo.ts';
import { TOLERANCE_BPS_MAXIMUM } from '#accounts/merchants.ts';
import { LOOPBACK_HOSTS, REDIRECT_DOMAINS_MAXIMUM } from '#accounts/redirect-domains.ts';
import { SEARCHED } from '#chains/bitcoin/wallet-addresses.ts';
import { OVERPAYMENT_PER_MILLE } from '#onchain/settlement/match-transfer.ts';
import {
  BUDGET_CENTS,
  BUDGET_PER_MILLE,
  CUT_PER_MILLE,
} from '#onchain/settlement/quote-amounts.ts';
import { CASE_MEANINGS } from '#onchain/settlement/simulate.ts';
import {
  DUST_BELOW_CENTS,
  DUST_PER_MILLE,
  NEAR_DIVISOR,
} from '#onchain/settlement/weigh-transfers.ts';
import { WALLET_WATCHED_MS } from '#onchain/watching/watch-list.ts';
import { ATTEMPTS_AUDITED } from '#payments/may-simulate.ts';
import { PAUSES } from '#payments/processors/follow-up.ts';
import { FIRST_INQUIRY_MS, REGULATED_WINDOW_MINUTES } from '#payments/regulated-flow.ts';
import {
  AMOUNT_MAXIMUM_CENTS,
  AMOUNT_MINIMUM_CENTS,
  CUSTOMER_REFERENCE_MAXIMUM,
  REDIRECT_URL_MAXIMUM,
} from '#schemas/create-payment.ts';
import { PAYMENT_STATUSES } from '#schemas/payment.ts';
import { SIMULATION_CASES } from '#schemas/simulation-cases.ts';
import { GAP_MAXIMUM } from '#storage/repositories/accounts/wallet-addresses.ts';
import { LATE_FOR_MS } from '#time/late-window.ts';
import { PAYMENT_ID } from '../../api/v1/examples.ts';
import { RETURNED } from '../../checkout/checkout.ts';
import { LANGUAGE_TAGS } from '../../checkout/page/texts/languages.ts';
import { formatDollars } from '../../pages/format-dollars.ts';
import { formatDuration } from '../format-duration.ts';
import { codes } from '../write-markdown.ts';
import type { Facts } from './facts.ts';

/** What guides tell of payments, quotes, deposits and the checkout. */
export const PAYMENT_FACTS: Facts = {
  'amount.min': AMOUNT_MINIMUM_CENTS,
  'amount.max': AMOUNT_MAXIMUM_CENTS,
  'amount.min-dollars': formatDollars(AMOUNT_MINIMUM_CENTS),
  'amount.max-dollars': formatDollars(AMOUNT_MAXIMUM_CENTS),
  'reference.max': CUSTOMER_REFERENCE_MAXIMUM,
  'checkout.languages': listLanguages(),
  'logo.kib-max': LOGO_BYTES_MAXIMUM / 1024,
  'logo.pixels-max': LOGO_PIXELS_MAXIMUM,
  'payment.statuses': codes(PAYMENT_STATUSES),
  'payment.overpayment-percent': Number(OVERPAYMENT_PER_MILLE) / 10,
  'payment.tolerance-percent': TOLERANCE_BPS_MAXIMUM / 100,
  'simulation.attempts-audited': ATTEMPTS_AUDITED,
  'simulation.cases': codes(SIMULATION_CASES),
  'simulation.meanings': Object.entries(CASE_MEANINGS)
    .map(([name, meaning]) => `| \`${name}\` | ${meaning} |`)
    .join('\n'),
  'quote.budget-cents': Number(BUDGET_CENTS),
  'quote.budget-percent': Number(BUDGET_PER_MILLE) / 10,
  'quote.cut-percent': Number(CUT_PER_MILLE) / 10,
  'address.max': ADDRESSES_MAXIMUM,
  'address.held-for': formatDuration(HELD_FOR_MS / 1000),
  'wallet.gap': GAP_MAXIMUM,
  'wallet.searched': SEARCHED.toLocaleString('en'),
  'wallet.watched': formatDuration(WALLET_WATCHED_MS / 1000),
  'dust.share': `${Number(DUST_PER_MILLE) / 10} %`,
  'dust.below': formatDollars(DUST_BELOW_CENTS),
  'dust.near': `${100 / Number(NEAR_DIVISOR)} %`,
  'deposit.late-for': formatDuration(LATE_FOR_MS / 1000),
  'inquiry.first': formatDuration(FIRST_INQUIRY_MS / 1000),
  'inquiry.longest': formatDuration(PAUSES.longest / 1000),
  'payment.regulated-window': formatDuration(REGULATED_WINDOW_MINUTES * 60),
  'redirect.parameters': RETURNED.map(name => `\`${name}\``).join(' and '),
  'redirect.example': `${RETURNED[0]}=${PAYMENT_ID}&${RETURNED[1]}=successful`,
  'redirect.domains-max': REDIRECT_DOMAINS_MAXIMUM,
  'redirect.url-max': REDIRECT_URL_MAXIMUM,
  'redirect.loopback-hosts': codes(LOOPBACK_HOSTS),
};

/** The languages of the checkout, in English and in a sentence. */
function listLanguages(): string {
  const names = new Intl.DisplayNames('en', { type: 'language' });
  const list = new Intl.ListFormat('en', { type: 'conjunction' });
  return list.format(LANGUAGE_TAGS.map(tag => names.of(tag) ?? tag));
}
