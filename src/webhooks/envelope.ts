import type { ClaimedDelivery } from '../repositories/webhook-attempts.ts';

/** The body of an event's every delivery: always the same bytes, with the data exactly as stored. */
export function eventEnvelope({ id, type, createdAt, data }: ClaimedDelivery['event']): string {
  const head = JSON.stringify({ id, object: 'event', type, createdAt });
  return `${head.slice(0, -1)},"data":${data}}`;
}
