import type { FastifyRequest } from 'fastify';
import type { WeighedAssignment } from '#onchain/settlement/inbox.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { html } from '../../../pages/html.ts';
import { texts } from '../../hooks/language.ts';
import type { Question } from '../../kit/confirmation.ts';
import { dollars } from '../../kit/format.ts';
import { ownPath, ownUrl } from '../../kit/navigation.ts';
import { type NamedNetworks, nameAmount, nameNetwork } from '../../kit/networks.ts';
import { renderFacts } from '../../kit/table.ts';
import { renderOrder } from './views.ts';

/** Asks before a deposit is assigned, with what is due beside what has arrived. */
export function assignmentQuestion(
  request: FastifyRequest,
  networks: NamedNetworks,
  weighed: WeighedAssignment,
): Question {
  const words = texts(request);
  const { assignment, facts, unknownValue } = words.unmatched;
  const { arrived, deposit, due, otherOrder, payment } = weighed;
  const { blockchain_id: network, state, value_cents: cents } = deposit;
  const amount = (units: bigint) => nameAmount(networks, network, units);
  const { none, less, more } = assignment.differences;
  const difference =
    arrived === due
      ? none
      : arrived < due
        ? less(amount(due - arrived))
        : more(amount(arrived - due));
  const { consequence } = assignment;
  return {
    title: assignment.title(nameOrder(payment)),
    content: html`<dl class="compare"><div><dt>${assignment.due}</dt><dd>${amount(due)}</dd></div>
<div><dt>${assignment.arrived}</dt><dd>${amount(arrived)}</dd></div></dl>
${renderFacts([
  [assignment.difference, difference],
  [facts.network, nameNetwork(words, networks, network)],
  [assignment.price, dollars(payment.amount)],
  [facts.worth, cents === null ? unknownValue : dollars(cents)],
  [words.payments.facts.reference, payment.customer_reference_id],
])}
${
  otherOrder !== undefined &&
  html`<p class="notice">${assignment.otherOrder(
    otherOrder.merchant_id === payment.merchant_id
      ? renderOrder(ownUrl(request, '/payments'), otherOrder)
      : html`<code>${otherOrder.id}</code>`,
    words.payments.statuses[otherOrder.status],
  )}</p>`
}
<p>${state === 'final' ? consequence.final : consequence.confirming}</p>`,
    submit: assignment.submit,
    ...(otherOrder === undefined ? {} : { fields: { sure: 'yes' } }),
    back: ownPath(request, `/unmatched/${deposit.id}`),
  };
}

/** A payment in a sentence: its price and its reference. */
export function nameOrder({
  amount,
  customer_reference_id: reference,
}: Pick<Payment, 'amount' | 'customer_reference_id'>): string {
  return [dollars(amount), reference].filter(Boolean).join(', ');
}
