const SETTLE_ELSEWHERE = 'Settle with the customer, then dismiss the deposit with a note of how.';
const PAY_FOR_REAL = 'Send a real transfer, on a test network one without value.';

type PaymentStatus = 'pending' | 'successful' | 'unsuccessful' | 'expired' | 'cancelled';
type DepositState = 'seen' | 'final' | 'reversed' | 'failed';

/** Refusals about payments, their deposits, and simulations. */
export const PAYMENTS = {
  'payment-unknown': ({ paymentId }: { paymentId: string }) => `There is no payment ${paymentId}.`,
  'payment-ended': ({ status }: { status: PaymentStatus }) =>
    `The payment has ended: it is ${status} and stays so. ${SETTLE_ELSEWHERE}`,
  'payment-funded': `The payment has funds already. ${SETTLE_ELSEWHERE}`,

  'deposit-unknown': ({ depositId }: { depositId: string }) => `There is no deposit ${depositId}.`,
  'deposit-assigned': ({ paymentId }: { paymentId: string }) =>
    `The deposit belongs to payment ${paymentId} already.`,
  'deposit-dismissed': 'The deposit is dismissed.',
  'deposit-without-funds': ({ state }: { state: DepositState }) =>
    `The deposit is ${state}: there are no funds.`,
  'deposit-at-other-address': 'The deposit went to another address than that of the payment.',
  'deposit-on-other-network': 'The payment is on another network than the deposit.',
  'deposit-for-former-quote':
    'The deposit is for a former quote of the payment, and not final yet: assign it once it is.',
  'deposit-suffices': 'The deposit suffices: it can be assigned at once.',
  'deposit-for-other-payment': (values: { paymentId: string; status: PaymentStatus }) =>
    `It was meant for payment ${values.paymentId}, which is ${values.status}. Make sure that it is not that customer’s money.`,
  'amount-unasked': wrongAmount('A second admin, or your operator, has to confirm it.'),
  'amount-asked-by-former-admin': wrongAmount(
    'Who asked for it may not any more: another admin has to ask again.',
  ),
  'amount-untyped': wrongAmount('Type both amounts to confirm it.'),
  'amount-mistyped': wrongAmount('The amounts that were typed are others.'),
  'too-many-dismissals': ({ maximum }: { maximum: number }) =>
    `At most ${maximum} deposits are dismissed at once.`,

  'return-of-unmatched': 'The deposit waits in the inbox: dismiss it as returned instead.',
  'return-not-final': ({ state }: { state: DepositState }) =>
    `The deposit is ${state}: only one that is final can be returned.`,
  'return-for-open-payment': ({ paymentId }: { paymentId: string }) =>
    `Payment ${paymentId} is still open, and the deposit counts for it.`,
  'return-for-paid-payment': ({ paymentId }: { paymentId: string }) =>
    `Payment ${paymentId} was paid, and the deposit counts for it.`,
  'return-already-recorded': 'It is recorded already that the deposit was returned.',

  'simulation-of-live-merchant': ({ paymentId }: { paymentId: string }) =>
    `Payment ${paymentId} is a live merchant's, and those are never simulated here: simulate one of a test merchant.`,
  'simulation-without-network': 'The payment offers no network.',
  'simulation-on-chains': `The chains of the payment's networks have nodes. ${PAY_FOR_REAL}`,
  'simulation-on-chain': ({ blockchainId, chain }: { blockchainId: string; chain: string }) =>
    `Transfers on ${blockchainId} cannot be simulated, since ${chain} has a node. ${PAY_FOR_REAL}`,
  'simulation-on-us-account':
    'The payment is on a US account: pay it on the page that its checkoutUrl leads to.',
  'simulation-of-other-processor': ({ processor }: { processor: string | null }) =>
    `The payment is processed by ${processor}: only those of the sandbox are simulated.`,
  'simulation-case-unknown': ({ name, known }: { name: string; known: readonly string[] }) =>
    `A payment on a US account has ${known.join(', ')}; "${name}" is played on chain alone.`,
  'clock-without-events': ({ status }: { status: PaymentStatus }) =>
    `The payment is ${status}, and nothing waits to be delivered: its clock has nothing to move.`,
  'clock-on-chain': ({ blockchainId, chain }: { blockchainId: string; chain: string }) =>
    `The clock of a payment on ${blockchainId} cannot be advanced, since ${chain} has a node: a real transfer may be on its way.`,
} as const;

/** @returns The sentence of a wrong amount. Amounts are decimals of the asset. */
function wrongAmount(hint: string) {
  const texts = {
    tooLittle: 'too little to settle the payment',
    tooMuch: 'too much for the payment',
  };
  return (values: { arrived: string; due: string; difference: 'tooLittle' | 'tooMuch' }) =>
    `${values.arrived} arrived, and ${values.due} is due: ${texts[values.difference]}. ${hint}`;
}
