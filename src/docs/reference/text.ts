import { block, code, table } from '../guides/guide.ts';
import { slugOf } from '../markdown.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import { describeField, type Field, fieldsOf, sharedObjects, textOf } from './fields.ts';
import { type Content, type ReferenceOperation, referenceGroups } from './operations.ts';

/** The reference as Markdown, written from the document alone. */
export function referenceMarkdown(document: OpenApiDocument): string {
  const schemes = Object.values(document.components.securitySchemes);
  return [
    '## Authentication',
    table(
      ['header', 'content'],
      schemes
        .filter(({ name }) => name !== undefined)
        .map(({ name = '', description }) => [code(name), description]),
    ),
    '## Headers of answers',
    table(
      ['header', 'content'],
      Object.entries(document.components.headers).map(([name, { description }]) => [
        code(name),
        description,
      ]),
    ),
    ...referenceGroups(document).flatMap(({ name, description, operations }) => [
      `## ${name}`,
      description,
      ...operations.flatMap(operation => operationMarkdown(operation, document)),
    ]),
    '## Webhooks',
    table(
      ['type', 'tells'],
      Object.entries(document.webhooks).map(([type, { post }]) => [
        code(type),
        post?.description ?? '',
      ]),
    ),
    '## Objects',
    ...sharedObjects(document).flatMap(name => [
      `### ${name}`,
      fieldTable(fieldsOf(document.components.schemas[name] ?? {}, document)),
    ]),
  ].join('\n\n');
}

function operationMarkdown(operation: ReferenceOperation, document: OpenApiDocument): string[] {
  const { method, path, summary, description, scope, deprecated, parameters } = operation;
  return [
    `### ${summary}`,
    `${code(`${method} ${path}`)}${deprecated ? ' (deprecated)' : ''}`,
    description,
    ...(scope === null ? [] : [`Scope: ${code(scope)}`]),
    ...parameters.flatMap(part => [
      `#### ${part.title}`,
      fieldTable(
        part.parameters.map(({ name, schema, required = false, description: text = '' }) =>
          describeField(name, { ...schema, description: text }, required, document),
        ),
      ),
    ]),
    ...(operation.body === null ? [] : contentMarkdown('Body', operation.body)),
    ...contentMarkdown(`Answer ${operation.success.status}`, operation.success),
    '#### Errors',
    operation.errorCodes.length === 0
      ? operation.failures.map(({ status, description: text }) => `- ${status}: ${text}`).join('\n')
      : `${operation.errorCodes.join(', ')}: see [errors](/docs/errors).`,
    '#### Example',
    block('http', operation.request),
    block('json', operation.response),
  ];
}

function contentMarkdown(title: string, { type, object, fields }: Content): string[] {
  const what = typeLabel({ type, object });
  return [`#### ${title}`, ...(fields.length === 0 ? [what] : [`${what}:`, fieldTable(fields)])];
}

/** The type, or a link to the object that is described by itself. */
function typeLabel({ type, object }: Pick<Field, 'type' | 'object'>): string {
  if (object === null) return type;
  return `${type.startsWith('array') ? 'array of ' : ''}[${object}](#${slugOf(object)})`;
}

/** One row for each field, those of inner objects with their path. */
function fieldTable(fields: readonly Field[]): string {
  return table(
    ['field', 'type', 'required', 'description'],
    flatten(fields).map(field => [
      code(field.name),
      typeLabel(field),
      field.required ? 'yes' : 'no',
      textOf(field),
    ]),
  );
}

function flatten(fields: readonly Field[], path = ''): Field[] {
  return fields.flatMap(field => {
    const name = path + field.name;
    const inner = field.type.startsWith('array') ? `${name}[].` : `${name}.`;
    return [{ ...field, name }, ...flatten(field.children, inner)];
  });
}
