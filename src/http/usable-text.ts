import type { FastifyInstance } from 'fastify';
import { ApiError } from '#errors/api-error.ts';

/** The message about text that no column can hold. */
export const UNUSABLE_TEXT = 'Text must be valid Unicode without NUL characters.';

/** Whether text can be stored: PostgreSQL takes neither NUL nor a lone surrogate. */
export function isUsableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/**
 * Refuses text that cannot be stored, in the path and the query of every page of `app`, including parameters that no
 * schema names. Text of forms, and of the API, is checked with its schema.
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
