import { type Static, Type } from '@sinclair/typebox';
import { BlockchainIdSchema } from './blockchain.ts';
import { PaymentStatusSchema } from './payment.ts';
import { DateBound, Nullable, Timestamp, Uuid } from './scalars.ts';

export const PARTNER_PAGE_DEFAULT = 20;
export const PARTNER_PAGE_MAXIMUM = 100;
/** Longest text filter of a partner list, in characters. */
export const PARTNER_TEXT_MAXIMUM = 255;
/** Largest 32-bit integer: pages beyond it are refused rather than counted to. */
const PAGE_MAXIMUM = 2_147_483_647;

const closed = { additionalProperties: false };
const Dollars = (description: string) =>
  Type.Number({ description: `${description} USD dollars.` });
const Count = (description: string) => Type.Integer({ description });
const TextFilter = (description: string) =>
  Type.Optional(Type.String({ maxLength: PARTNER_TEXT_MAXIMUM, description }));

const paging = {
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_MAXIMUM,
      default: 1,
      description: 'Number of the page.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PARTNER_PAGE_MAXIMUM,
      default: PARTNER_PAGE_DEFAULT,
      description: 'Rows a page.',
    }),
  ),
};

export const PartnerMerchantsQuerySchema = Type.Object(
  {
    ...paging,
    search: TextFilter('Part of a name, email or ID.'),
    actionRequired: Type.Optional(
      Type.Boolean({ description: '`true`: only merchants awaiting verification.' }),
    ),
  },
  closed,
);

export const PartnerPaymentsQuerySchema = Type.Object(
  {
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
    endDate: Type.Optional(DateBound('Created at this instant or earlier.')),
    actionRequired: Type.Optional(Type.Boolean({ description: 'Accepted, but filters nothing.' })),
  },
  closed,
);

export const PartnerMerchantParamsSchema = Type.Object(
  { merchantId: Uuid('ID of the merchant.') },
  closed,
);
export const PartnerPaymentParamsSchema = Type.Object(
  { paymentId: Uuid('ID of the payment.') },
  closed,
);

export const PartnerPaymentSchema = Type.Object(
  {
    id: Uuid('ID of the payment.'),
    amount: Dollars('Amount in'),
    commissionAmount: Nullable(Dollars('Commission in')),
    tokenAmount: Nullable(Type.String({ description: 'Amount of the asset, decimal.' })),
    status: PaymentStatusSchema,
    sessionStatus: Nullable(Type.String({ description: 'Where the checkout stands.' })),
    flow: Type.String({ description: '`crypto` or `regulated`.' }),
    paymentSystem: Nullable(
      Type.String({ description: "The network's family once chosen, or the processor's name." }),
    ),
    blockchainId: Nullable(Type.String({ description: 'The network the customer chose.' })),
    address: Nullable(Type.String({ description: 'Deposit address shown to the payer.' })),
    transactionHash: Nullable(
      Type.String({ description: 'On-chain hash, or the reference the processor reported.' }),
    ),
    customerReferenceId: Nullable(Type.String({ description: 'As given at creation.' })),
    note: Nullable(Type.String({ description: 'As given at creation.' })),
    createdAt: Timestamp('When the payment was created.'),
    expiresAt: Timestamp('When an unpaid payment expires.'),
    paidAt: Nullable(Timestamp('When the payment was confirmed.')),
    branchId: Uuid('ID of the branch.'),
    branchName: Type.String({ description: 'Name of the branch.' }),
    merchantId: Uuid('ID of the merchant.'),
    merchantName: Type.String({ description: 'Name of the merchant.' }),
  },
  closed,
);

const pageOf = {
  total: Count('Exact number of rows on all pages.'),
  page: Count('Number of this page, from 1.'),
  limit: Count('Rows a page.'),
};

export const PartnerPaymentPageSchema = Type.Object(
  { data: Type.Array(PartnerPaymentSchema), ...pageOf },
  closed,
);

const merchantAccount = {
  id: Uuid('ID of the merchant.'),
  name: Type.String({ description: 'Name of the merchant.' }),
  email: Type.String({ description: 'Where the merchant is reached.' }),
  status: Type.String({ description: '`active` or `inactive`.' }),
  accountKind: Type.String({ description: '`standard` or `us`.' }),
  onboardingStatus: Type.String({ description: '`pending`, `approved` or `rejected`.' }),
  actionRequired: Type.Boolean({ description: 'Whether onboarding is pending.' }),
  createdAt: Timestamp('When the merchant was created.'),
};

export const PartnerMerchantSchema = Type.Object(
  {
    ...merchantAccount,
    totalPayments: Count('Payments of every status.'),
    totalVolume: Dollars('Successful payments in'),
    volume30d: Dollars('Successful payments paid on the last 30 UTC days, today included, in'),
    lastPaymentAt: Nullable(Timestamp('When the latest payment was created.')),
  },
  closed,
);

export const PartnerMerchantPageSchema = Type.Object(
  { data: Type.Array(PartnerMerchantSchema), ...pageOf },
  closed,
);

export const PartnerMerchantDetailSchema = Type.Object(
  {
    merchant: Type.Object(merchantAccount, closed),
    branches: Type.Array(
      Type.Object(
        {
          id: Uuid('ID of the branch.'),
          name: Type.String({ description: 'Name of the branch.' }),
          isMain: Type.Boolean({ description: 'Whether payments are created on it.' }),
        },
        closed,
      ),
    ),
    aggregates: Type.Object(
      {
        totalPayments: Count('Payments of every status.'),
        successfulPayments: Count('Payments that are successful.'),
        totalVolume: Dollars('Successful payments in'),
        volume30d: Dollars('Successful payments of the last 30 UTC days in'),
      },
      closed,
    ),
    recentPayments: Type.Array(PartnerPaymentSchema, { description: 'The latest, at most ten.' }),
  },
  closed,
);

export const PartnerOverviewSchema = Type.Object(
  {
    partner: Type.Object(
      {
        id: Uuid('ID of the partner.'),
        name: Type.String({ description: 'Name of the partner.' }),
        status: Type.String({ description: '`active` or `inactive`.' }),
        selfServiceApiPayments: Type.Boolean({
          description: 'Whether linked merchants may create payments with keys of their own.',
        }),
        createdAt: Timestamp('When the partner was created.'),
      },
      closed,
    ),
    metrics: Type.Object(
      {
        totalMerchants: Count('Merchants assigned to the partner.'),
        approvedMerchants: Count('Those whose onboarding is approved.'),
        actionRequired: Count('Those whose onboarding is pending.'),
        volume30d: Dollars('Successful payments of the last 30 UTC days, today included, in'),
        totalVolume: Dollars('Successful payments in'),
        totalPayments: Count('Payments of every status.'),
      },
      closed,
    ),
    attention: Type.Array(
      Type.Object(
        {
          type: Type.String({ description: 'What is waiting: `onboarding_pending`.' }),
          merchantId: Uuid('ID of the merchant.'),
          merchantName: Type.String({ description: 'Name of the merchant.' }),
          since: Timestamp('Since when it waits.'),
        },
        closed,
      ),
    ),
    volumeTrend: Type.Array(
      Type.Object(
        {
          date: Type.String({ description: 'UTC day, YYYY-MM-DD.' }),
          volume: Dollars('Successful payments paid on that day in'),
          payments: Count('Successful payments paid on that day.'),
        },
        closed,
      ),
    ),
  },
  closed,
);

export const PartnerFiltersSchema = Type.Object(
  {
    merchants: Type.Array(
      Type.Object(
        {
          id: Uuid('ID of the merchant.'),
          name: Type.String({ description: 'Name of the merchant.' }),
        },
        closed,
      ),
    ),
    blockchainIds: Type.Array(Type.String(), {
      description: 'Networks that payments of the partner have been made on.',
    }),
  },
  closed,
);

export const PartnerTeamSchema = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          id: Uuid('ID of the member.'),
          name: Type.String({ description: 'Name of the member.' }),
          email: Type.String({ description: 'Where the member is reached.' }),
          role: Type.String({ description: '`owner` or `developer`.' }),
          status: Type.String({ description: '`active` or `inactive`.' }),
          createdAt: Timestamp('When the member was added.'),
        },
        closed,
      ),
    ),
  },
  closed,
);

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
