import type {
  PartnerFilters,
  PartnerMerchantDetail,
  PartnerMerchantPage,
  PartnerOverview,
  PartnerPaymentPage,
  PartnerPaymentRow,
  PartnerTeam,
} from '#schemas/partner-reports.ts';
import { PAYMENT_ID, SUCCESSFUL_PAYMENT } from '../v1/examples.ts';

export const MERCHANT_ID = '019d67d0-5600-7a10-8c3f-6b2d4e8f0a13';

const account = {
  id: MERCHANT_ID,
  name: 'Blue Coffee',
  email: 'hi@coffee.example',
  status: 'active',
  accountKind: 'standard',
  onboardingStatus: 'approved',
  actionRequired: false,
  createdAt: '2026-04-07T12:00:00.000Z',
};

export const PAYMENT_ROW: PartnerPaymentRow = {
  id: PAYMENT_ID,
  amount: 50,
  commissionAmount: 0.5,
  tokenAmount: SUCCESSFUL_PAYMENT.tokenAmount,
  status: 'successful',
  sessionStatus: 'completed',
  flow: 'crypto',
  paymentSystem: 'ethereum',
  blockchainId: 'eth-usdc',
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  transactionHash: SUCCESSFUL_PAYMENT.transactionHash,
  customerReferenceId: 'order-1001',
  note: null,
  createdAt: SUCCESSFUL_PAYMENT.createdAt,
  expiresAt: SUCCESSFUL_PAYMENT.expiresAt,
  paidAt: SUCCESSFUL_PAYMENT.paidAt,
  branchId: '019d67d0-5600-7a11-b2d4-93e5f6a7b8c9',
  branchName: 'Main',
  merchantId: MERCHANT_ID,
  merchantName: account.name,
};

export const PAYMENT_PAGE: PartnerPaymentPage = {
  data: [PAYMENT_ROW],
  total: 1,
  page: 1,
  limit: 20,
};

export const MERCHANT_PAGE: PartnerMerchantPage = {
  data: [
    {
      ...account,
      totalPayments: 42,
      totalVolume: 1890.5,
      volume30d: 640,
      lastPaymentAt: SUCCESSFUL_PAYMENT.createdAt,
    },
  ],
  total: 1,
  page: 1,
  limit: 20,
};

export const MERCHANT_DETAIL: PartnerMerchantDetail = {
  merchant: account,
  branches: [{ id: PAYMENT_ROW.branchId, name: 'Main', isMain: true }],
  aggregates: {
    totalPayments: 42,
    successfulPayments: 37,
    totalVolume: 1890.5,
    volume30d: 640,
    totalCommission: 18.9,
  },
  recentPayments: [PAYMENT_ROW],
};

export const OVERVIEW: PartnerOverview = {
  partner: {
    id: '019d67cc-ac80-7b32-a4e6-18f9c0d2e4f6',
    name: 'Coffee Alliance',
    status: 'active',
    selfServiceApiPayments: true,
    createdAt: '2026-04-07T11:56:00.000Z',
  },
  metrics: {
    totalMerchants: 3,
    approvedMerchants: 2,
    actionRequired: 1,
    volume30d: 640,
    totalVolume: 1890.5,
    totalCommission: 18.9,
    totalPayments: 42,
  },
  attention: [
    {
      type: 'onboarding_pending',
      merchantId: '019e2b1c-9a80-7d54-8e10-27a3b5c7d9e1',
      merchantName: 'Red Tea',
      since: '2026-05-15T09:30:00.000Z',
    },
  ],
  volumeTrend: [
    { date: '2026-05-16', volume: 0, payments: 0 },
    { date: '2026-05-17', volume: 50, payments: 1 },
  ],
};

export const FILTERS: PartnerFilters = {
  merchants: [{ id: MERCHANT_ID, name: account.name }],
  blockchainIds: ['btc', 'eth-usdc'],
};

export const TEAM: PartnerTeam = {
  data: [
    {
      id: '019d67cd-96e0-7c65-9f21-38b4c6d8eaf0',
      name: 'Ada Owner',
      email: 'ada@partner.example',
      role: 'owner',
      status: 'active',
      createdAt: '2026-04-07T11:57:00.000Z',
    },
  ],
};
