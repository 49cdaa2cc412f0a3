import { type Static, Type } from '@sinclair/typebox';
import { BlockchainIdSchema } from './blockchain.ts';
import { PaymentStatusSchema } from './payment.ts';
import { Closed, DateBound, Nullable, Timestamp, Uuid } from './scalars.ts';

export const PARTNER_PAGE_DEFAULT = 20;
export const PARTNER_PAGE_MAXIMUM = 100;
/** Maximum length of a text filter, in characters. */
export const PARTNER_TEXT_MAXIMUM = 255;
/** Largest 32-bit integer: higher page numbers are refused before anything is counted. */
const PAGE_MAXIMUM = 2_147_483_647;

const Dollars = (what: string) => Type.Number({ description: `${what}, in US dollars.` });
/** `TREND_DAYS` of src/time/days.ts. */
const VOLUME_30_DAYS = 'Volume of successful payments paid in the last 30 UTC days, today included';
const COMMISSION = 'Commission on successful payments';
const Count = (description: string) => Type.Integer({ description });
const TextFilter = (description: string) =>
  Type.Optional(Type.String({ maxLength: PARTNER_TEXT_MAXIMUM, description }));

const paging = {
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_MAXIMUM,
      default: 1,
      description: 'Page number, from 1.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PARTNER_PAGE_MAXIMUM,
      default: PARTNER_PAGE_DEFAULT,
      description: 'Rows per page.',
    }),
  ),
};

export const PartnerMerchantsQuerySchema = Closed({
  ...paging,
  search: TextFilter('Part of a name, email or ID.'),
  actionRequired: Type.Optional(
    Type.Boolean({ description: '`true`: only merchants whose onboarding is pending.' }),
  ),
});

export const PartnerPaymentsQuerySchema = Closed({
  ...paging,
  search: TextFilter(
    'Part of a merchant name or ID, payment ID, address, transaction hash or customer reference.',
  ),
  status: Type.Optional(PaymentStatusSchema),
  transactionId: TextFilter('Part of a payment ID.'),
  merchantId: Type.Optional(Uuid('Exact merchant ID.')),
  merchantName: TextFilter('Part of a merchant name.'),
  addressSearch: TextFilter('Part of a deposit address.'),
  txHash: TextFilter('Part of a transaction hash.'),
  blockchainId: Type.Optional(BlockchainIdSchema),
  startDate: Type.Optional(DateBound('Created at this instant or later.')),
  endDate: Type.Optional(
    DateBound('Created at this instant or earlier; a date alone means that whole UTC day.'),
  ),
  actionRequired: Type.Optional(Type.Boolean({ description: 'Accepted, but has no effect.' })),
});

export const PartnerMerchantParamsSchema = Closed({ merchantId: Uuid('ID of the merchant.') });
export const PartnerPaymentParamsSchema = Closed({ paymentId: Uuid('ID of the payment.') });

export const PartnerPaymentSchema = Closed({
  id: Uuid('ID of the payment.'),
  amount: Dollars('Amount'),
  commissionAmount: Nullable(Dollars('Commission')),
  tokenAmount: Nullable(Type.String({ description: 'Amount of the asset as a decimal string.' })),
  status: PaymentStatusSchema,
  sessionStatus: Nullable(Type.String({ description: 'State of the checkout.' })),
  flow: Type.String({ description: '`crypto` or `regulated`.' }),
  paymentSystem: Nullable(
    Type.String({
      description: 'Family of the chosen network, or name of the processor. Null before.',
    }),
  ),
  blockchainId: Nullable(Type.String({ description: 'The network that the customer chose.' })),
  address: Nullable(Type.String({ description: 'Deposit address shown to the payer.' })),
  transactionHash: Nullable(
    Type.String({ description: 'On-chain hash, or the reference that the processor reported.' }),
  ),
  customerReferenceId: Nullable(Type.String({ description: 'As given at creation.' })),
  note: Nullable(Type.String({ description: 'As given at creation.' })),
  createdAt: Timestamp('When the payment was created.'),
  expiresAt: Timestamp('When the payment expires unless it is paid.'),
  paidAt: Nullable(Timestamp('When the payment was confirmed.')),
  branchId: Uuid('ID of the branch.'),
  branchName: Type.String({ description: 'Name of the branch.' }),
  merchantId: Uuid('ID of the merchant.'),
  merchantName: Type.String({ description: 'Name of the merchant.' }),
});

const pageOf = {
  total: Count('Exact number of rows on all pages.'),
  page: Count('Page number, from 1.'),
  limit: Count('Rows per page.'),
};

export const PartnerPaymentPageSchema = Closed({
  data: Type.Array(PartnerPaymentSchema),
  ...pageOf,
});

const merchantAccount = {
  id: Uuid('ID of the merchant.'),
  name: Type.String({ description: 'Name of the merchant.' }),
  email: Type.String({ description: 'Email address of the merchant.' }),
  status: Type.String({ description: '`active` or `inactive`.' }),
  accountKind: Type.String({ description: '`standard` or `us`.' }),
  onboardingStatus: Type.String({ description: '`pending`, `approved` or `rejected`.' }),
  actionRequired: Type.Boolean({ description: 'Whether onboarding is pending.' }),
  createdAt: Timestamp('When the merchant was created.'),
};

export const PartnerMerchantSchema = Closed({
  ...merchantAccount,
  totalPayments: Count('Number of payments, in any status.'),
  totalVolume: Dollars('Volume of successful payments'),
  volume30d: Dollars(VOLUME_30_DAYS),
  lastPaymentAt: Nullable(Timestamp('When the latest payment was created.')),
});

export const PartnerMerchantPageSchema = Closed({
  data: Type.Array(PartnerMerchantSchema),
  ...pageOf,
});

export const PartnerMerchantDetailSchema = Closed({
  merchant: Closed(merchantAccount),
  branches: Type.Array(
    Closed({
      id: Uuid('ID of the branch.'),
      name: Type.String({ description: 'Name of the branch.' }),
      isMain: Type.Boolean({
        description: 'Whether it is the main branch, on which API payments are created.',
      }),
    }),
  ),
  aggregates: Closed({
    totalPayments: Count('Number of payments, in any status.'),
    successfulPayments: Count('Number of successful payments.'),
    totalVolume: Dollars('Volume of successful payments'),
    volume30d: Dollars(VOLUME_30_DAYS),
    totalCommission: Dollars(COMMISSION),
  }),
  recentPayments: Type.Array(PartnerPaymentSchema, {
    description: 'The latest payments, at most ten.',
  }),
});

export const PartnerOverviewSchema = Closed({
  partner: Closed({
    id: Uuid('ID of the partner.'),
    name: Type.String({ description: 'Name of the partner.' }),
    status: Type.String({ description: '`active` or `inactive`.' }),
    selfServiceApiPayments: Type.Boolean({
      description: "Whether the partner's merchants may use API keys of their own.",
    }),
    createdAt: Timestamp('When the partner was created.'),
  }),
  metrics: Closed({
    totalMerchants: Count('Number of live merchants assigned to the partner.'),
    approvedMerchants: Count('Number of live merchants whose onboarding is approved.'),
    actionRequired: Count('Number of live merchants whose onboarding is pending.'),
    volume30d: Dollars(VOLUME_30_DAYS),
    totalVolume: Dollars('Volume of successful payments'),
    totalCommission: Dollars(COMMISSION),
    totalPayments: Count('Number of payments, in any status.'),
  }),
  attention: Type.Array(
    Closed({
      type: Type.String({ description: 'What needs attention: `onboarding_pending`.' }),
      merchantId: Uuid('ID of the merchant.'),
      merchantName: Type.String({ description: 'Name of the merchant.' }),
      since: Timestamp('Since when its onboarding is pending.'),
    }),
  ),
  volumeTrend: Type.Array(
    Closed({
      date: Type.String({ description: 'UTC day, YYYY-MM-DD.' }),
      volume: Dollars('Volume of successful payments paid on that day'),
      payments: Count('Number of successful payments paid on that day.'),
    }),
  ),
});

export const PartnerFiltersSchema = Closed({
  merchants: Type.Array(
    Closed({
      id: Uuid('ID of the merchant.'),
      name: Type.String({ description: 'Name of the merchant.' }),
    }),
  ),
  blockchainIds: Type.Array(Type.String(), {
    description: "Networks that customers have chosen for the partner's payments.",
  }),
});

export const PartnerTeamSchema = Closed({
  data: Type.Array(
    Closed({
      id: Uuid('ID of the member.'),
      name: Type.String({ description: 'Name of the member.' }),
      email: Type.String({ description: 'Email address of the member.' }),
      role: Type.String({ description: '`owner` or `developer`.' }),
      status: Type.String({ description: '`active` or `inactive`.' }),
      createdAt: Timestamp('When the member was added.'),
    }),
  ),
});

export type PartnerMerchantsQuery = Static<typeof PartnerMerchantsQuerySchema>;
export type PartnerPaymentsQuery = Static<typeof PartnerPaymentsQuerySchema>;
export type PartnerPaymentRow = Static<typeof PartnerPaymentSchema>;
export type PartnerPaymentPage = Static<typeof PartnerPaymentPageSchema>;
export type PartnerMerchantRow = Static<typeof PartnerMerchantSchema>;
export type PartnerMerchantPage = Static<typeof PartnerMerchantPageSchema>;
export type PartnerMerchantDetail = Static<typeof PartnerMerchantDetailSchema>;
export type PartnerOverview = Static<typeof PartnerOverviewSchema>;
export type PartnerFilters = Static<typeof PartnerFiltersSchema>;
export type PartnerTeam = Static<typeof PartnerTeamSchema>;
