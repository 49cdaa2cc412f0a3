import type { Credentials } from '#client/index.ts';
import type { PaymentObject } from '#schemas/payment.ts';
import type { TestApp } from '../../helpers/app.ts';
import { send } from '../../helpers/signed-request.ts';

/** The payment as its merchant gets it from the signed API. */
export async function readPayment(
  service: TestApp,
  key: Credentials,
  id: string,
): Promise<PaymentObject> {
  const response = await send(service, key, { path: `/external/v1/payments/${id}` });
  if (response.statusCode !== 200) throw new Error(response.body);
  return response.json();
}

/** Types of the payment's events, oldest first, without their common prefix. */
export async function eventsOf({ db }: TestApp, id: string): Promise<string[]> {
  const events = await db
    .selectFrom('events')
    .select('type')
    .where('payment_id', '=', id)
    .orderBy('id')
    .execute();
  return events.map(({ type }) => type.replace('payment_prompt.', ''));
}

/** Log messages of a level since the logs were last cleared. */
export function logged({ logs }: TestApp, level: string): string[] {
  return logs.filter(line => line.level === level).map(line => String(line.msg));
}
