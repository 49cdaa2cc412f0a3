import type { OpenApiDocument, Schema } from '../openapi/document.ts';

/** A field or a parameter of the reference. */
export interface Field {
  readonly name: string;
  /** For example `array of strings` or `integer or null`. */
  readonly type: string;
  readonly required: boolean;
  /** Markdown. */
  readonly description: string;
  /** Constraints, e.g. `at most 255 characters`; Markdown. */
  readonly limits: readonly string[];
  /** Name of the type, if it has a section of its own. */
  readonly object: string | null;
  readonly children: readonly Field[];
}

const REFERENCE = '#/components/schemas/';

const shared = new WeakMap<OpenApiDocument, readonly string[]>();

/** Objects that are referenced more than once: each gets a section of its own. */
export function sharedObjects(document: OpenApiDocument): readonly string[] {
  const known = shared.get(document);
  if (known !== undefined) return known;
  const { components, paths, webhooks } = document;
  const text = JSON.stringify({ paths, webhooks, schemas: components.schemas });
  const names = Object.keys(components.schemas).filter(
    name => text.split(`"${REFERENCE}${name}"`).length > 2,
  );
  shared.set(document, names);
  return names;
}

/** The name that a schema references; null for an inline schema. */
function referredBy({ $ref, allOf = [] }: Schema): string | null {
  const target = $ref ?? allOf[0]?.$ref;
  return target?.startsWith(REFERENCE) ? target.slice(REFERENCE.length) : null;
}

/** Name of the object of a schema, or of the entries of an array, if it has a section of its own. */
export function objectOf(schema: Schema, document: OpenApiDocument): string | null {
  const name = referredBy(schema.items ?? schema);
  return name !== null && sharedObjects(document).includes(name) ? name : null;
}

function resolve(schema: Schema, { components }: OpenApiDocument): Schema {
  const name = referredBy(schema);
  return (name === null ? undefined : components.schemas[name]) ?? schema;
}

/** The fields of an object, or of the objects in an array. */
export function fieldsOf(schema: Schema, document: OpenApiDocument): Field[] {
  const { items, properties = {}, required = [] } = resolve(schema, document);
  if (items !== undefined) return fieldsOf(items, document);
  return Object.entries(properties).map(([name, property]) =>
    describeField(name, property, required.includes(name), document),
  );
}

/** A field, with its inner fields unless its object has a section of its own. */
export function describeField(
  name: string,
  schema: Schema,
  required: boolean,
  document: OpenApiDocument,
): Field {
  const object = objectOf(schema, document);
  return {
    name,
    type: typeOf(schema, document),
    required,
    description: schema.description ?? resolve(schema, document).description ?? '',
    limits: limitsOf(schema),
    object,
    children: object === null ? fieldsOf(schema, document) : [],
  };
}

/** Description and constraints as sentences; Markdown. */
export function textOf({ description, limits }: Pick<Field, 'description' | 'limits'>): string {
  const keep = limits.join('; ');
  const sentence = keep === '' ? '' : `${keep.charAt(0).toUpperCase()}${keep.slice(1)}.`;
  return [description, sentence].filter(part => part !== '').join(' ');
}

/** The type of a schema in words. */
export function typeOf(schema: Schema, document: OpenApiDocument): string {
  const { type = 'object', items, format, oneOf } = resolve(schema, document);
  if (oneOf !== undefined) return oneOf.map(referredBy).join(' or ');
  const [kind = '', ...others] = typeof type === 'string' ? [type] : type;
  const formats: Readonly<Record<string, string>> = { uuid: 'UUID', 'date-time': 'timestamp' };
  const name =
    kind === 'array' && items !== undefined
      ? `array of ${typeOf(items, document)}s`
      : (formats[format ?? ''] ?? kind);
  return [name, ...others].join(' or ');
}

function limitsOf(schema: Schema): string[] {
  const { minimum, maximum, maxLength, minItems, maxItems, anyOf, items } = schema;
  const values = (items?.enum ?? schema.enum ?? []).filter(value => value !== null);
  const limits: string[] = [];
  if (schema.const !== undefined) limits.push(`always \`${schema.const}\``);
  if (values.length > 0) limits.push(`one of ${values.map(value => `\`${value}\``).join(', ')}`);
  if (minimum !== undefined && maximum !== undefined)
    limits.push(`${grouped(minimum)} to ${grouped(maximum)}`);
  if (maxLength !== undefined) limits.push(`at most ${maxLength} characters`);
  if (minItems !== undefined && maxItems !== undefined) {
    limits.push(`${minItems} to ${maxItems} entries`);
  }
  if (anyOf !== undefined)
    limits.push(
      'an ISO 8601 date-time, UTC without a zone, or a date, which is its midnight in UTC',
    );
  if (schema.default !== undefined) limits.push(`default ${schema.default}`);
  return limits;
}

function grouped(number: number): string {
  return number.toLocaleString('en-US');
}
