import { ERROR_CODES, type ErrorCode } from '#errors/catalogue.ts';
import type {
  Media,
  OpenApiDocument,
  OperationObject,
  Parameter,
  ResponseObject,
} from '../openapi/document.ts';
import { SECURITY_SCHEMES } from '../openapi/security.ts';
import { type Field, fieldsOf, objectOf, typeOf } from './fields.ts';

/** An operation of the reference. */
export interface ReferenceOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated: boolean;
  readonly parameters: readonly {
    readonly title: string;
    readonly parameters: readonly Parameter[];
  }[];
  readonly body: Content | null;
  readonly success: Content & { readonly status: string };
  readonly errorCodes: readonly ErrorCode[];
  /** Statuses with messages; the older contract has no codes. */
  readonly failures: readonly { readonly status: string; readonly description: string }[];
  /** An example request in HTTP. */
  readonly request: string;
  /** The response to it in JSON. */
  readonly response: string;
}

/** The content of a body. */
export interface Content {
  readonly type: string;
  /** Name of the object, if it has a section of its own; its fields are then not repeated. */
  readonly object: string | null;
  readonly fields: readonly Field[];
}

interface ReferenceGroup {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly ReferenceOperation[];
}

const PARTS = [
  ['path', 'Path'],
  ['query', 'Query'],
  ['header', 'Headers'],
] as const;

/** The operations by tag; tags without operations, like that of webhooks, are left out. */
export function referenceGroups(document: OpenApiDocument): ReferenceGroup[] {
  const found = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      tag: operation.tags[0],
      operation: describeOperation(document, method.toUpperCase(), path, operation),
    })),
  );
  return document.tags
    .map(tag => ({
      ...tag,
      operations: found
        .filter(candidate => candidate.tag === tag.name)
        .map(({ operation }) => operation),
    }))
    .filter(({ operations }) => operations.length > 0);
}

function describeOperation(
  document: OpenApiDocument,
  method: string,
  path: string,
  operation: OperationObject,
): ReferenceOperation {
  const { parameters = [], requestBody, responses } = operation;
  const [status = '', success] = Object.entries(responses).find(([code]) => /^2/.test(code)) ?? [];
  if (success === undefined) throw new Error(`${operation.operationId} has no successful response`);
  const body = mediaOf(requestBody);
  const examples = Object.values(responses).flatMap(response =>
    Object.keys(mediaOf(response)?.examples ?? {}),
  );
  return {
    id: operation.operationId,
    method,
    path,
    summary: operation.summary,
    description: operation.description,
    deprecated: operation.deprecated === true,
    parameters: PARTS.map(([where, title]) => ({
      title,
      parameters: parameters.filter(parameter => parameter.in === where),
    })).filter(part => part.parameters.length > 0),
    body: body === undefined ? null : contentOf(body, document),
    success: { status, ...contentOf(mediaOf(success), document) },
    errorCodes: ERROR_CODES.filter(code => examples.includes(code)),
    failures: Object.entries(responses)
      .filter(([code]) => !/^2/.test(code))
      .map(([code, { description }]) => ({ status: code, description })),
    request: writeRequest(method, path, operation),
    response: JSON.stringify(mediaOf(success)?.example, null, 2),
  };
}

/** The JSON content of a request or a response. */
export function mediaOf(carrier: Pick<ResponseObject, 'content'> | undefined): Media | undefined {
  return carrier?.content?.['application/json'];
}

/** The content of a body, without the fields of an object that has a section of its own. */
export function contentOf(media: Media | undefined, document: OpenApiDocument): Content {
  const schema = media?.schema ?? {};
  const object = objectOf(schema, document);
  return {
    type: typeOf(schema, document),
    object,
    fields: object === null ? fieldsOf(schema, document) : [],
  };
}

function writeRequest(method: string, path: string, operation: OperationObject): string {
  const { parameters = [], requestBody, security = [] } = operation;
  const given = parameters.filter(({ example }) => example !== undefined);
  const encode = ({ example }: Parameter) => encodeURIComponent(String(example));
  const target = given
    .filter(parameter => parameter.in === 'path')
    .reduce((text, parameter) => text.replace(`{${parameter.name}}`, encode(parameter)), path);
  const query = given
    .filter(parameter => parameter.in === 'query')
    .map(parameter => `${parameter.name}=${encode(parameter)}`);
  const headers = Object.keys(security[0] ?? {}).map(scheme => {
    const name = SECURITY_SCHEMES[scheme]?.name;
    return name === undefined ? 'Authorization: Basic …' : `${name}: …`;
  });
  const body = mediaOf(requestBody);
  return [
    `${method} ${[target, query.join('&')].filter(part => part !== '').join('?')}`,
    ...headers,
    ...given
      .filter(parameter => parameter.in === 'header')
      .map(({ name, example }) => `${name}: ${example}`),
    ...(body === undefined
      ? []
      : ['Content-Type: application/json', '', JSON.stringify(body.example, null, 2)]),
  ].join('\n');
}
