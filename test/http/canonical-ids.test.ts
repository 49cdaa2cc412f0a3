import { Type } from '@sinclair/typebox';
import fc from 'fast-check';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { registerValidation } from '#http/validation.ts';
import { Uuid } from '#schemas/scalars.ts';

const ID = Type.Object({ id: Uuid('An ID.') }, { additionalProperties: false });

/** A UUID with each letter in either case. */
const spelt = fc
  .tuple(fc.uuid(), fc.array(fc.boolean(), { minLength: 36, maxLength: 36 }))
  .map(([id, upper]) =>
    [...id].map((letter, index) => (upper[index] ? letter.toUpperCase() : letter)).join(''),
  );

test('whatever the case of a request’s IDs, its handler gets them in canonical form', async () => {
  const app = Fastify();
  registerValidation(app);
  app.post('/:id', { schema: { params: ID, querystring: ID, body: ID } }, async request => [
    request.params,
    request.query,
    request.body,
  ]);
  await fc.assert(
    fc.asyncProperty(spelt, async id => {
      const answer = await app.inject({ method: 'POST', url: `/${id}?id=${id}`, payload: { id } });
      const canonical = { id: id.toLowerCase() };
      expect(answer.json()).toEqual([canonical, canonical, canonical]);
    }),
    { numRuns: 100 },
  );
  await app.close();
});
