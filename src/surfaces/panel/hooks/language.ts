import type { FastifyRequest } from 'fastify';
import { en } from '../texts/en/index.ts';
import type { PanelTexts } from '../texts/index.ts';

/** The texts of a page, in the language of the person who requested it. */
export function texts(_request: FastifyRequest): PanelTexts {
  return en;
}
