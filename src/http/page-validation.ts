import { Type } from '@sinclair/typebox';
import type { ValidateFunction } from 'ajv';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { isUsableText, UNUSABLE_TEXT } from './usable-text.ts';
import {
  createAjv,
  describeError,
  type Fields,
  type ObjectSchema,
  readTypes,
  spellCanonically,
  uuidsOf,
} from './validation.ts';

/** A form that has a button alone. */
export const EmptyForm = Type.Object({});

const ajv = createAjv({ allErrors: true });

/**
 * Validates what pages are sent:
 * - A form is refused like a body of the API: a field that its schema does not name is E1002, everything else
 *   wrong E1001, each with its `param`. A field whose schema is a list has no, one or several values.
 * - A path parameter that no object has is E3001.
 * - Of a query, which anybody may have typed, what is not understood is left out. Blank text is as good as
 *   none, because a form sends each of its fields.
 *
 * A route that takes a form without a schema cannot be registered.
 */
export function registerPageValidation(app: FastifyInstance): void {
  app.addHook('onRoute', ({ method, url, schema }) => {
    const isForm = method === 'POST';
    if (isForm && schema?.body === undefined) throw new Error(`${url} has no form schema`);
  });
  app.setValidatorCompiler<ObjectSchema>(({ schema, httpPart }) => {
    const read = { params: readPath, querystring: readQuery }[String(httpPart)] ?? readForm;
    const isForm = read === readForm;
    const ids = uuidsOf(schema);
    let validate: ValidateFunction | undefined;
    return (data: unknown) => {
      // Compiled at the first request: all of them together would take 0.2 s of every start.
      validate ??= ajv.compile(isForm ? { ...schema, additionalProperties: false } : schema);
      const value = read(validate, schema, data as Fields);
      if (value instanceof ApiError) return { error: value };
      spellCanonically(value, ids);
      return { value };
    };
  });
}

type Read = (validate: ValidateFunction, schema: ObjectSchema, data: Fields) => Fields | ApiError;

const readPath: Read = (validate, _schema, params) =>
  validate(params) ? params : new ApiError('E3001');

const readQuery: Read = (validate, schema, data) => {
  const given: Fields = {};
  for (const name of Object.keys(schema.properties ?? {})) {
    const value = data[name];
    const text = typeof value === 'string' ? value.trim() : value;
    if (text !== undefined && text !== '') given[name] = text;
  }
  const query = readTypes(schema, given);
  if (validate(query)) return query;
  for (const { instancePath } of validate.errors ?? []) delete query[instancePath.slice(1)];
  return query;
};

/** @param data null where there is no body, as of a form without fields. */
const readForm: Read = (validate, schema, data) => {
  const form = { ...data };
  for (const [name, { type }] of Object.entries(schema.properties ?? {})) {
    const { [name]: value = [] } = form;
    if (type === 'array') form[name] = [value].flat();
  }
  if (!validate(form)) {
    const errors = validate.errors ?? [];
    const unknown = errors.find(({ keyword }) => keyword === 'additionalProperties');
    const error = unknown ?? errors[0];
    if (error === undefined) return new ApiError('E1001');
    return describeError(error, 'form', Object.keys(schema.properties ?? {}), form);
  }
  for (const [param, value] of Object.entries(form)) {
    const isUsable = [value].flat().every(text => isUsableText(String(text)));
    if (!isUsable) return new ApiError('E1001', UNUSABLE_TEXT, { param });
  }
  return form;
};
