import type { FastifyRequest } from 'fastify';
import { preferredLanguage } from '../../pages/preferred-language.ts';
import { LANGUAGE_TAGS, textsIn } from '../texts/languages.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

/** The texts of a page, in the language of the person who requested it. */
export function texts(request: FastifyRequest): PanelTexts {
  return textsFor(request, request.visit?.session?.person.language ?? null);
}

/** Texts in the language that somebody has chosen or, if it is null, in the one that their browser prefers. */
export function textsFor({ headers }: FastifyRequest, chosen: string | null): PanelTexts {
  return textsIn(chosen ?? preferredLanguage(headers['accept-language'], LANGUAGE_TAGS) ?? null);
}
