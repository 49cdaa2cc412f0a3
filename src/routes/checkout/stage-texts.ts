import { billOf } from '../../checkout/bill.ts';
import type { Checkout } from '../../checkout/checkout.ts';
import type { CheckoutStage } from '../../checkout/stage.ts';
import { hasLapsed } from '../../settlement/lapse-quotes.ts';
import { formatDollars } from '../pages/format-dollars.ts';
import { type CheckoutView, dueOf, merchantOf } from './view.ts';

export interface StageTexts {
  /** Title of the document. */
  readonly title: string;
  /** Read out by screen readers when the payment reaches the stage. */
  readonly announcement: string;
}

export function textsOf(view: CheckoutView): StageTexts {
  const { checkout, stage, now } = view;
  const merchant = merchantOf(checkout);
  const total = formatDollars(billOf(checkout.payment).total);
  const due = dueOf(checkout);
  const amount = due === null ? total : `${due.amount} ${due.symbol}`;
  const texts: Record<CheckoutStage, StageTexts> = {
    choose: {
      title: `Pay ${total} to ${merchant}`,
      announcement: hasLapsed(checkout.payment, now)
        ? 'The price has lapsed. Choose again how to pay.'
        : 'Choose how to pay.',
    },
    waiting: {
      title: `Send ${amount} · ${merchant}`,
      announcement: waitingAnnouncement(checkout),
    },
    overdue: {
      title: `Time is up · ${merchant}`,
      announcement: 'Time is up. Do not send anything any more.',
    },
    confirming: {
      title: `Payment seen · ${merchant}`,
      announcement: 'Your payment has been seen and is being confirmed.',
    },
    paid: { title: `Paid · ${merchant}`, announcement: `Paid: ${total} to ${merchant}.` },
    unsuccessful: {
      title: `Payment unsuccessful · ${merchant}`,
      announcement: 'The payment was unsuccessful.',
    },
    expired: { title: `Time is up · ${merchant}`, announcement: 'The payment has expired.' },
    cancelled: {
      title: `Payment cancelled · ${merchant}`,
      announcement: 'The payment has been cancelled.',
    },
  };
  return texts[stage];
}

/** Why an action is refused in a stage. Completes a sentence after a colon. */
export const STAGE_REASONS: Readonly<Record<CheckoutStage, string>> = {
  choose: 'it is not offered for this payment',
  waiting: 'it is not offered for this payment',
  overdue: 'its time is up',
  confirming: 'a transfer has been seen already',
  paid: 'it is paid',
  unsuccessful: 'it has ended',
  expired: 'its time is up',
  cancelled: 'it has been cancelled',
};

function waitingAnnouncement({ payment, progress: { rest } }: Checkout): string {
  const { last_error_code: problem } = payment;
  if (rest === 'awaited') return 'Too little was sent. Please send nothing more now.';
  if (problem === 'amount_underpaid') return 'Too little has arrived. Please read the notice.';
  if (problem === 'transfer_reversed') return 'The network has undone your transfer.';
  return 'Waiting for your payment.';
}
