import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import fc from 'fast-check';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { ApiError } from '#errors/api-error.ts';
import { registerFormBody } from '#http/form-body.ts';
import { EmptyForm, registerPageValidation } from '#http/page-validation.ts';
import { serverOptions } from '#http/server-options.ts';
import { StringEnum, Uuid } from '#schemas/scalars.ts';

const Form = Type.Object({
  name: Type.String(),
  deposit: Type.Array(Uuid('One that is ticked.'), { maxItems: 2 }),
  note: Type.String({ default: '' }),
});
const Query = Type.Object({
  search: Type.Optional(Type.String({ maxLength: 5 })),
  page: Type.Optional(Type.Integer({ minimum: 1 })),
  status: Type.Optional(StringEnum(['open', 'closed'], 'State.')),
});
const ID = '0198c2a4-7b1e-7c3d-8e5f-0123456789ab';

const app = Fastify({ ...serverOptions() }).withTypeProvider<TypeBoxTypeProvider>();
app.setErrorHandler((error, _request, reply) => {
  if (!(error instanceof ApiError)) throw error;
  return reply.status(400).send([error.errorCode, error.message, error.param]);
});
registerFormBody(app, 1_000);
registerPageValidation(app);
const params = Type.Object({ id: Uuid('ID.') });
app.post('/form', { schema: { body: Form } }, async request => request.body);
app.post('/button', { schema: { body: EmptyForm } }, async request => request.body);
app.get('/list', { schema: { querystring: Query } }, async request => request.query);
app.get('/things/:id', { schema: { params } }, async request => request.params);

async function post(url: string, payload: string) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const response = await app.inject({ method: 'POST', url, headers, payload });
  expect(response.statusCode).toBeLessThan(500);
  return response.json();
}
const get = async (url: string) => (await app.inject({ url })).json();

test.each([
  ['name=a', { name: 'a', deposit: [], note: '' }],
  [`name=&deposit=${ID}&note=%2B+%E2%82%AC`, { name: '', deposit: [ID], note: '+ €' }],
  [`deposit=${ID}&name=a&deposit=${ID}`, { name: 'a', deposit: [ID, ID], note: '' }],
])('a form is an object: %s', async (form, fields) => {
  expect(await post('/form', form)).toEqual(fields);
});

test.each([
  ['name=a&nota=b', 'E1002', 'The form has an unknown field "nota". Did you mean "note"?', 'nota'],
  ['names=a', 'E1002', 'The form has an unknown field "names". Did you mean "name"?', 'names'],
  ['__proto__=a', 'E1002', 'The form has an unknown field "__proto__".', '__proto__'],
  ['name=a&constructor=b', 'E1002', 'The form has an unknown field "constructor".', 'constructor'],
  ['', 'E1001', 'name is required.', 'name'],
  ['name=a&name=b', 'E1001', 'name must be one text.', 'name'],
  ['name=a&note=b&note=c', 'E1001', 'note must be one text.', 'note'],
  ['name=a&deposit=b', 'E1001', 'deposit must be a UUID.', 'deposit'],
  [
    `name=a${`&deposit=${ID}`.repeat(3)}`,
    'E1001',
    'deposit must have at most 2 entries.',
    'deposit',
  ],
  ['name=%00', 'E1001', 'Text must be valid Unicode without NUL characters.', 'name'],
  ['name=%ED%A0%80', 'E1001', 'name must be one text.', 'name'],
  ['name=a&deposit=%ff', 'E1001', 'deposit must be one text.', 'deposit'],
  ['x=1&y=2', 'E1002', 'The form has an unknown field "x".', 'x'],
  ['name=%ff', 'E1001', 'name must be one text.', 'name'],
])('a form is refused like a body of the API: %s', async (form, ...refusal) => {
  expect(await post('/form', form)).toEqual(refusal);
});

test('a button alone sends no fields, with a body or without one', async () => {
  expect(await post('/button', '')).toEqual({});
  expect((await app.inject({ method: 'POST', url: '/button' })).json()).toEqual({});
  expect(await post('/button', 'x=1')).toContain('E1002');
});

test.each([
  ['', {}],
  ['?search=+ab+&page=7&status=open', { search: 'ab', page: 7, status: 'open' }],
  ['?search=&page=&status=+', {}],
  ['?search=abcdef&page=2', { page: 2 }],
  ['?page=0&status=done&search=a', { search: 'a' }],
  ['?search=a&search=b&page=1e3&status=open', { status: 'open' }],
  ['?search=%ff&status=closed', { status: 'closed' }],
  ['?x=1&limit=5&__proto__=2&constructor=3&page=2', { page: 2 }],
])('an invalid part of a query is dropped: %s', async (query, read) => {
  expect(await get(`/list${query}`)).toEqual(read);
});

test('any query is accepted, and what is kept of it matches the schema', async () => {
  const value = fc.oneof(
    fc.constantFrom('open', '1', '0', '', '%ff', '%', '01', '+'),
    fc.string({ unit: 'grapheme' }).map(encodeURIComponent),
  );
  const name = fc.constantFrom('search', 'page', 'status', '__proto__', 'x');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, value)), async pairs => {
      const query = pairs.map(pair => pair.join('=')).join('&');
      const { search = '', page = 1, status = 'open' } = await get(`/list?${query}`);
      expect(search).toBe(search.trim());
      expect([...search].length).toBeLessThanOrEqual(5);
      expect(Number.isSafeInteger(page) && page > 0).toBe(true);
      expect(['open', 'closed']).toContain(status);
    }),
  );
});

test('a path without an object is E3001, and a UUID is converted to lower case', async () => {
  expect(await get(`/things/${ID.toUpperCase()}`)).toEqual({ id: ID });
  for (const id of ['x', '%00', `${ID}0`]) expect(await get(`/things/${id}`)).toContain('E3001');
});

test('a route that accepts a form without a schema cannot be registered', async () => {
  const other = Fastify();
  registerPageValidation(other);
  expect(() => other.post('/form', async () => null)).toThrow('/form has no form schema');
});
