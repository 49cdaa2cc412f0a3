import type { LightMyRequestResponse } from 'fastify';
import { type Notice, readNotice } from '#surfaces/panel/kit/notice.ts';

/** The field of a form whose question was read and answered. */
export const SURE = { 'confirmation-sure': 'yes' } as const;

/** What the next page says of the change that a response tells of; undefined for nothing. */
export function noticeOf({ cookies }: Pick<LightMyRequestResponse, 'cookies'>): Notice | undefined {
  return readNotice(cookies.find(({ name }) => name.endsWith('mp_notice'))?.value);
}
