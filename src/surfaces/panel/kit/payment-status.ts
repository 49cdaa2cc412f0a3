import type { PaymentStatus, SessionStatus } from '#storage/database/payment-tables.ts';
import { type Html, html } from '../../pages/html.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

interface ShownStatus {
  readonly status: PaymentStatus;
  readonly sessionStatus: SessionStatus | null;
}

/** The status of a payment in a word. */
export function renderStatus(
  { payments: { statuses, confirming } }: PanelTexts,
  { status, sessionStatus }: ShownStatus,
): Html {
  if (status === 'pending' && sessionStatus === 'completed') {
    return html`<span class="tag">${confirming}</span>`;
  }
  const look = status === 'successful' ? ' good' : status === 'unsuccessful' ? ' bad' : '';
  return html`<span class="tag${look}">${statuses[status]}</span>`;
}
