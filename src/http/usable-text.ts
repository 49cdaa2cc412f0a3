import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.ts';

/** What is told of text that no column can hold. */
export const UNUSABLE_TEXT = 'Text must be valid Unicode without NUL characters.';

/** Whether text can be stored: PostgreSQL takes neither NUL nor half of a surrogate pair. */
export function isUsableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/**
 * Refuses NUL in the path and the query of every page of `app`, whether the page reads them or not. Routes
 * of the API have their text checked with their schema, and so have forms.
 * @throws ApiError E1001
 */
export function refuseUnusableText(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    for (const values of [request.params, request.query]) {
      for (const [param, value] of Object.entries(values ?? {})) {
        const isUsable = [param, value].flat().every(each => each === null || isUsableText(each));
        if (!isUsable) return done(new ApiError('E1001', UNUSABLE_TEXT, { param }));
      }
    }
    done();
  });
}
