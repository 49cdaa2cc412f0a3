import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import { UUID } from '#schemas/uuid.ts';
import { DATE_EXPECTED, parseDateBound } from '#time/date-bound.ts';
import { nearest } from './edit-distance.ts';
import { isUsableText, UNUSABLE_TEXT } from './usable-text.ts';

/** Numbers in a query are plain digits: `1e1`, `5.0`, `+5` and `05` are refused. */
const CANONICAL_INTEGER = /^(0|[1-9]\d{0,14})$/;

/** Longest name of a field that a message repeats, in characters. */
const NAME_MAXIMUM = 64;
/** Most unknown fields of a body that are compared with a missing one. */
const UNKNOWN_MAXIMUM = 20;

const TYPE_NAMES: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  string: 'one text',
  'string,null': 'one text or null',
  array: 'a list',
};

export interface ObjectSchema extends FastifySchema {
  readonly properties?: Readonly<
    Record<string, { readonly type?: unknown; readonly format?: unknown }>
  >;
}

/** Where a field is, in the words of a message. */
type Place = 'body' | 'query' | 'form';

export type Fields = Record<string, unknown>;

const ajv = createAjv();

/** A validator with our formats. It fills in defaults, and neither coerces nor drops anything. */
export function createAjv(options: Options = {}): Ajv {
  const own = { useDefaults: true, removeAdditional: false, coerceTypes: false };
  return new Ajv({ ...own, ...options })
    .addFormat('uuid', UUID)
    .addFormat('date-time', true)
    .addFormat('date-bound', text => parseDateBound(text) !== undefined);
}

/**
 * Validates bodies, queries and path parameters: unknown fields are E1002, any other fault is E1001, each with its
 * `param`. Nothing is coerced or dropped; UUIDs become lower case.
 */
export function registerValidation(app: FastifyInstance): void {
  app.setValidatorCompiler<ObjectSchema>(({ schema, httpPart }) => {
    const validate = ajv.compile(schema);
    const where = httpPart === 'body' ? 'body' : 'query';
    const known = Object.keys(schema.properties ?? {});
    const ids = uuidsOf(schema);
    return (data: unknown) => {
      const value = httpPart === 'querystring' ? readTypes(schema, data as Fields) : data;
      const error = refusal(validate, value, where, known);
      if (error !== undefined) return { error };
      spellCanonically(value as Fields, ids);
      return { value };
    };
  });
}

/** Names of the fields that hold a UUID. */
export function uuidsOf({ properties = {} }: ObjectSchema): string[] {
  return Object.entries(properties).flatMap(([name, { format }]) =>
    format === 'uuid' ? name : [],
  );
}

/**
 * Writes UUIDs in lower case, as the database does. Caches use them as keys: under another spelling an
 * entry would not be invalidated when its object changes.
 */
export function spellCanonically(fields: Fields, ids: readonly string[]): void {
  for (const name of ids) {
    const id = fields[name];
    if (typeof id === 'string') fields[name] = id.toLowerCase();
  }
}

function refusal(
  validate: ValidateFunction,
  value: unknown,
  where: Place,
  known: readonly string[],
): ApiError | undefined {
  if (!validate(value)) {
    const [error] = validate.errors ?? [];
    return error === undefined ? new ApiError('E1001') : describeError(error, where, known, value);
  }
  for (const [param, text] of Object.entries(value as Fields)) {
    if (typeof text === 'string' && !isUsableText(text)) {
      return new ApiError('E1001', UNUSABLE_TEXT, { param });
    }
  }
  return undefined;
}

/** What is wrong with `value`, and with which of its fields. */
export function describeError(
  error: ErrorObject,
  where: Place,
  known: readonly string[],
  value: unknown,
): ApiError {
  if (error.keyword === 'additionalProperties') {
    const param: string = error.params.additionalProperty;
    return new ApiError('E1002', describeUnknownField(where, param, known), { param });
  }
  if (error.keyword === 'required') {
    const param: string = error.params.missingProperty;
    const unknown = Object.keys(Object(value)).filter(name => !known.includes(name));
    const misspelt = nearest(param, unknown.slice(0, UNKNOWN_MAXIMUM));
    const hint = misspelt === undefined ? '' : ` The ${where} has "${misspelt}" instead.`;
    return new ApiError('E1001', `${param} is required.${hint}`, { param });
  }
  const [, param] = error.instancePath.split('/');
  if (param === undefined) return new ApiError('E1001', 'The body must be a JSON object.');
  return new ApiError('E1001', `${param} ${expectation(error)}.`, { param });
}

/** Names an unknown field and, if there is one, the most similar known field. */
function describeUnknownField(where: Place, field: string, known: readonly string[]): string {
  const name = field.length > NAME_MAXIMUM ? `${field.slice(0, NAME_MAXIMUM)}…` : field;
  const meant = nearest(field, known);
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  return `The ${where} has an unknown field "${name.toWellFormed()}".${hint}`;
}

/** What is required of a value, in words that follow its name. */
export function expectation({ keyword, params }: ErrorObject): string {
  switch (keyword) {
    case 'type':
      return `must be ${TYPE_NAMES[params.type] ?? 'of another type'}`;
    case 'minimum':
      return `must be at least ${params.limit}`;
    case 'maximum':
      return `must be at most ${params.limit}`;
    case 'minItems':
      return `must have at least ${params.limit} entry`;
    case 'maxItems':
      return `must have at most ${params.limit} entries`;
    case 'maxLength':
      return `must be at most ${params.limit} characters long`;
    case 'enum':
      return `must be one of ${params.allowedValues.join(', ')}`;
    case 'format':
      return params.format === 'date-bound'
        ? `must be ${DATE_EXPECTED}, with + written as %2B`
        : 'must be a UUID';
    default:
      return 'is not valid';
  }
}

/** Converts the numbers and booleans that the schema names; everything in a query is text. */
export function readTypes(schema: ObjectSchema, query: Fields): Fields {
  const read: Fields = { ...query };
  for (const [name, { type }] of Object.entries(schema.properties ?? {})) {
    const text = read[name];
    if (typeof text !== 'string') continue;
    if (type === 'integer' && CANONICAL_INTEGER.test(text)) read[name] = Number(text);
    if (type === 'boolean' && (text === 'true' || text === 'false')) read[name] = text === 'true';
  }
  return read;
}
