import { hasLapsed } from '#onchain/settlement/lapse-quotes.ts';
import { billOf } from '../bill.ts';
import type { CheckoutTexts } from './texts/en.ts';
import { amountOf, type CheckoutView, dueOf, merchantOf } from './view.ts';

/** The document's title, and what screen readers read out when the payment reaches the stage. */
export function textsOf(view: CheckoutView): { title: string; announcement: string } {
  const { checkout, stage, now, locale } = view;
  const { titles, announcements } = locale.texts;
  const merchant = merchantOf(view);
  const total = locale.format.dollars(billOf(checkout.payment).total);
  const due = dueOf(checkout);
  switch (stage) {
    case 'choose':
      return {
        title: titles.choose(total, merchant),
        announcement: hasLapsed(checkout.payment, now)
          ? announcements.lapsed
          : announcements.choose,
      };
    case 'waiting':
      return {
        title: titles.waiting(due === null ? total : amountOf(view, due), merchant),
        announcement: waitingAnnouncement(view, announcements),
      };
    case 'paid':
      return { title: titles.paid(merchant), announcement: announcements.paid(total, merchant) };
    default:
      return { title: titles[stage](merchant), announcement: announcements[stage] };
  }
}

function waitingAnnouncement(
  { checkout: { payment, progress } }: CheckoutView,
  announcements: CheckoutTexts['announcements'],
): string {
  const { last_error_code: problem } = payment;
  if (progress.rest === 'awaited') return announcements.awaited;
  if (problem === 'amount_underpaid') return announcements.underpaid;
  if (problem === 'transfer_reversed') return announcements.reversed;
  return announcements.waiting;
}
