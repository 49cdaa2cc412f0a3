import { STATUS_CODES } from 'node:http';
import type { FastifySchema, RouteOptions } from 'fastify';
import type { ErrorCode } from '#errors/catalogue.ts';
import { IDEMPOTENCY_KEY_MAXIMUM } from '#payments/idempotency.ts';
import { type Operation, TAGS } from '../../api/operation.ts';
import type { LegacyReason } from '../../legacy/refusal.ts';
import type { OperationObject, Parameter, ResponseObject } from './document.ts';
import { errorResponses, refusalsOf } from './errors.ts';
import { headerReferences } from './headers.ts';
import { LEGACY_HEADERS, legacyErrorResponses, legacyReasonsOf } from './legacy-errors.ts';
import { BASIC, SIGNED } from './security.ts';

/** A route of the public API, with its refusals. */
export interface DescribedRoute {
  readonly operation: Operation;
  readonly refusals: readonly ErrorCode[];
  readonly legacyReasons: readonly LegacyReason[];
}

const IDEMPOTENCY_KEY: Parameter = {
  in: 'header',
  name: 'Idempotency-Key',
  required: false,
  description:
    'One key for each payment you intend to create, for example the order ID, and the same in every retry. Its characters are counted, in UTF-8, and its bytes compared.',
  schema: { type: 'string', maxLength: IDEMPOTENCY_KEY_MAXIMUM },
  example: 'order-1001',
};

/** Derives a route's refusals from its access rule and its schemas; undefined for a route without an operation. */
export function describeRoute({ config, schema }: RouteOptions): DescribedRoute | undefined {
  const { operation, access } = config ?? {};
  if (operation === undefined) return undefined;
  const hasBody = schema?.body !== undefined;
  const hasPathParameters = operation.example.params !== undefined;
  if (access === undefined) {
    const legacyReasons = legacyReasonsOf({ hasBody, hasId: hasPathParameters });
    return { operation, refusals: [], legacyReasons };
  }
  const { properties = {} } = (schema?.querystring ?? {}) as { properties?: object };
  const takesParameters = hasBody || hasPathParameters || Object.keys(properties).length > 0;
  const refusals = refusalsOf({ access, operation, takesParameters, hasPathParameters });
  return { operation, refusals, legacyReasons: [] };
}

/** The route's schemas with the further properties that @fastify/swagger reads. */
export function schemaOf({ operation }: DescribedRoute, route: RouteOptions): FastifySchema {
  const { schema = {}, config } = route;
  const { params } = operation.example;
  const access = config?.access;
  return {
    ...schema,
    operationId: operation.id,
    summary: operation.summary,
    tags: [TAGS[operation.tag].name],
    ...(access === undefined
      ? { description: operation.description, security: BASIC, deprecated: true }
      : {
          description: `${operation.description}\n\nScope: \`${access.scope}\``,
          security: SIGNED,
          'x-scope': access.scope,
        }),
    ...(schema.params === undefined && params !== undefined
      ? { params: textParameters(Object.keys(params)) }
      : {}),
  } as FastifySchema;
}

/** The older contract does not validate its paths: an ID that it does not find is a 404. */
function textParameters(names: readonly string[]): object {
  const properties = names.map(name => [
    name,
    { type: 'string', description: 'ID of the payment.' },
  ]);
  return { type: 'object', properties: Object.fromEntries(properties), required: names };
}

/** Adds examples, headers and refusals, which the schemas do not have. */
export function completeOperation(
  written: OperationObject,
  { operation, refusals, legacyReasons }: DescribedRoute,
): OperationObject {
  const { example, idempotent = false } = operation;
  const values: Readonly<Record<string, unknown>> = { ...example.params, ...example.query };
  const parameters = (written.parameters ?? []).map(parameter =>
    parameter.name in values ? { ...parameter, example: values[parameter.name] } : parameter,
  );
  if (idempotent) parameters.push(IDEMPOTENCY_KEY);
  const { requestBody } = written;
  return {
    ...written,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody === undefined
      ? {}
      : { requestBody: { ...requestBody, content: withExample(requestBody, example.body) } }),
    responses: {
      ...completeSuccess(written, operation),
      ...errorResponses(refusals, idempotent),
      ...legacyErrorResponses(legacyReasons),
    },
  };
}

function completeSuccess(
  { responses }: OperationObject,
  { tag, example, idempotent }: Operation,
): Record<string, ResponseObject> {
  const headers =
    tag === 'older'
      ? LEGACY_HEADERS
      : headerReferences([
          'X-Request-Id',
          ...(idempotent ? (['Idempotent-Replayed'] as const) : []),
        ]);
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      {
        description: STATUS_CODES[status] ?? status,
        headers,
        content: withExample(response, example.response),
      },
    ]),
  );
}

function withExample({ content = {} }: Pick<ResponseObject, 'content'>, example: unknown) {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => [type, { ...media, example }]),
  );
}
