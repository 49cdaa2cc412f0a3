import { Type } from '@sinclair/typebox';
import type { ValidateFunction } from 'ajv';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
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

/** A form without fields. */
export const EmptyForm = Type.Object({});

const ajv = createAjv({ allErrors: true });

/**
 * Validates the input of pages:
 * - A form is refused like a body of the API: an unknown field is E1002, any other fault E1001, each with its
 *   `param`. A field whose schema is a list may have zero, one or several values.
 * - A path parameter that does not match the schema is E3001.
 * - Query parameters that do not match the schema are ignored, since URLs are also typed by hand. So is blank text,
 *   because a browser sends every field of a form.
 *
 * A POST route without a body schema cannot be registered.
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
      // Compiled at the first request: compiling all of them would add 0.2 s to every start.
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

/** @param data null without a body, which is how browsers send a form without fields. */
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
