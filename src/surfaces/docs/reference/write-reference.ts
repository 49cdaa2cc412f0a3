import type { OpenApiDocument, Parameter } from '../openapi/document.ts';
import { block, code, errorLink, terms } from '../write-markdown.ts';
import { describeField, type Field, fieldsOf, sharedObjects, textOf } from './fields.ts';
import {
  type Content,
  contentOf,
  mediaOf,
  type ReferenceOperation,
  referenceGroups,
} from './operations.ts';

/** Requests mark the fields they require, responses those that may be absent. */
type Direction = 'request' | 'response';

/** The reference as Markdown, written from the OpenAPI document alone. */
export function writeReference(document: OpenApiDocument): string {
  return [
    ...authenticationParts(document),
    ...headerParts(document),
    ...referenceGroups(document).flatMap(({ name, description, operations }) => [
      `## ${name}`,
      description,
      ...operations.flatMap(operation => operationParts(operation, document)),
    ]),
    ...webhookParts(document),
    '## Objects',
    ...sharedObjects(document).flatMap(name => [
      `### ${name} {#${objectId(name)}}`,
      fieldList(fieldsOf(document.components.schemas[name] ?? {}, document), 'response'),
    ]),
  ].join('\n\n');
}

function authenticationParts({ components, servers }: OpenApiDocument): string[] {
  const headers = Object.values(components.securitySchemes).flatMap(({ name, description }) =>
    name === undefined ? [] : [{ name, description }],
  );
  return [
    '## Authentication',
    'Every request of v1 and of the partner reports carries five headers. [Signing requests](/docs/signing) has the canonical request, a worked example and programs in four languages.',
    namedTexts(headers.map(({ name, description }) => [name, description])),
    `The base URL is ${code(servers[0]?.url ?? '')}. A signed request looks like this:`,
    block('http', headers.map(({ name }) => `${name}: …`).join('\n')),
    '### Scopes',
    'Each operation names the scope that the key needs; without it the response is [E2101].',
    namedTexts(Object.entries(components.securitySchemes.keyId?.['x-scopes'] ?? {})),
  ];
}

function headerParts({ components }: OpenApiDocument): string[] {
  return [
    '## Response headers',
    '`Deprecation`, `Link` and `Sunset` belong to the older contract. All [errors](/docs/errors) of v1 share one envelope.',
    namedTexts(
      Object.entries(components.headers).map(([name, { description }]) => [name, description]),
    ),
  ];
}

function operationParts(operation: ReferenceOperation, document: OpenApiDocument): string[] {
  const { id, method, path, summary, description, deprecated, body, success } = operation;
  return [
    `### ${summary} {#${id}}`,
    `${code(`${method} ${path}`)}${deprecated ? ' **Deprecated**' : ''}`,
    description,
    ...operation.parameters.flatMap(({ title, parameters }) => [
      `#### ${title}`,
      parameterList(parameters, document),
    ]),
    ...(body === null ? [] : ['#### Request body', ...contentParts(body, 'request')]),
    `#### Response ${success.status}`,
    ...contentParts(success, 'response'),
    '#### Errors',
    operation.errorCodes.length === 0
      ? operation.failures.map(({ status, description: text }) => `- ${status}: ${text}`).join('\n')
      : operation.errorCodes.map(errorLink).join(', '),
    '#### Example',
    block('http', operation.request),
    block('json', operation.response),
  ];
}

/** Describes all events at once: they differ in their type alone. */
function webhookParts(document: OpenApiDocument): string[] {
  const webhooks = Object.entries(document.webhooks).flatMap(([type, { post }]) =>
    post === undefined ? [] : [{ type, post }],
  );
  const shown = webhooks.find(({ type }) => type.endsWith('.successful'))?.post;
  if (shown === undefined) throw new Error('the document has no webhook of a successful payment');
  const { parameters = [], requestBody, responses } = shown;
  return [
    '## Webhooks',
    'The service sends these to your endpoint with `POST`. [Webhooks](/docs/webhooks) explains how to verify them and when they are retried.',
    '### Types of events',
    namedTexts(webhooks.map(({ type, post }) => [type, post.description])),
    '### Headers',
    parameterList(parameters, document),
    '### Body',
    ...contentParts(contentOf(mediaOf(requestBody), document), 'response'),
    block('json', JSON.stringify(mediaOf(requestBody)?.example, null, 2)),
    '### Your response',
    namedTexts(Object.entries(responses).map(([status, { description }]) => [status, description])),
  ];
}

function contentParts({ type, object, fields }: Content, direction: Direction): string[] {
  if (fields.length === 0) return [typeLabel({ type, object })];
  const list = fieldList(fields, direction);
  return type.startsWith('array') ? [`${typeLabel({ type, object })}, each with:`, list] : [list];
}

function parameterList(parameters: readonly Parameter[], document: OpenApiDocument): string {
  const fields = parameters.map(({ name, schema, required = false, description = '' }) =>
    describeField(name, { ...schema, description }, required, document),
  );
  return fieldList(fields, 'request');
}

function fieldList(fields: readonly Field[], direction: Direction): string {
  return terms(
    fields.map(field => {
      const inner = field.children.length === 0 ? [] : [fieldList(field.children, direction)];
      const text = textOf(field);
      return {
        term: `${code(field.name)} *${typeLabel(field)}${mark(field, direction)}*`,
        text: [...(text === '' ? [] : [text]), ...inner].join('\n\n'),
      };
    }),
  );
}

function mark({ required }: Field, direction: Direction): string {
  if (direction === 'request') return required ? ', required' : '';
  return required ? '' : ', may be absent';
}

function namedTexts(entries: readonly (readonly [name: string, text: string])[]): string {
  return terms(entries.map(([name, text]) => ({ term: code(name), text })));
}

/** The type, or a link to the object that has a section of its own. */
function typeLabel({ type, object }: Pick<Field, 'type' | 'object'>): string {
  if (object === null) return type;
  return `${type.startsWith('array') ? 'array of ' : ''}[${object}](#${objectId(object)})`;
}

/** Anchor of an object's section. */
function objectId(name: string): string {
  return `object-${name}`;
}
