import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { ERROR_CODES, ERRORS } from '#errors/catalogue.ts';
import { TAGS } from '../../api/operation.ts';
import { EXAMPLE_BASE } from '../../api/v1/examples.ts';
import { readVersion } from '../client-package/package-file.ts';
import {
  completeOperation,
  type DescribedRoute,
  describeRoute,
  schemaOf,
} from './describe-route.ts';
import type { OpenApiDocument, OperationObject, PathItem } from './document.ts';
import { errorExamples } from './errors.ts';
import { HEADERS } from './headers.ts';
import { LEGACY_EXAMPLES } from './legacy-errors.ts';
import { componentSchemas, refer } from './schemas.ts';
import { SECURITY_SCHEMES } from './security.ts';
import { WEBHOOKS } from './webhooks.ts';

/**
 * Collects the routes with an `operation` that are registered from now on. Requests are not affected:
 * routes keep the schemas that validate and serialize them.
 * @returns A function that writes the document, once the application is ready.
 */
export async function registerOpenApi(
  app: FastifyInstance,
  publicUrl: string,
): Promise<() => OpenApiDocument> {
  const described = new Map<string, DescribedRoute>();
  await app.register(swagger, {
    convertConstToEnum: false,
    stripBasePath: false,
    openapi: {
      openapi: '3.1.1',
      info: describeApi(publicUrl),
      servers: [{ url: publicUrl, description: 'This installation' }],
      tags: Object.values(TAGS).map(tag => ({ ...tag })),
      // The package types each kind of scheme by itself.
      components: { securitySchemes: SECURITY_SCHEMES as never },
    },
    transform({ schema, url, route }) {
      const found = describeRoute(route);
      if (found === undefined) return { schema: { ...schema, hide: true }, url };
      described.set(found.operation.id, found);
      return { schema: schemaOf(found, route), url };
    },
  });
  let document: OpenApiDocument | undefined;
  return () => {
    document ??= complete(app.swagger() as unknown as OpenApiDocument, described, publicUrl);
    return document;
  };
}

function complete(
  written: OpenApiDocument,
  described: ReadonlyMap<string, DescribedRoute>,
  publicUrl: string,
): OpenApiDocument {
  const documented = new Set([...described.values()].flatMap(({ refusals }) => refusals));
  const codes = ERROR_CODES.filter(code => documented.has(code));
  const completeItem = (item: PathItem): PathItem =>
    Object.fromEntries(
      Object.entries(item).map(([method, operation]: [string, OperationObject]) => {
        const route = described.get(operation.operationId);
        if (route === undefined) throw new Error(`${operation.operationId} is not described`);
        return [method, refer(completeOperation(operation, route))];
      }),
    );
  const document: OpenApiDocument = {
    ...written,
    paths: Object.fromEntries(
      Object.entries(written.paths).map(([path, item]) => [path, completeItem(item)]),
    ),
    webhooks: WEBHOOKS,
    components: {
      schemas: componentSchemas(),
      headers: HEADERS,
      examples: { ...errorExamples(codes, publicUrl), ...LEGACY_EXAMPLES },
      securitySchemes: written.components.securitySchemes,
    },
  };
  const base = JSON.stringify(publicUrl).slice(1, -1);
  return JSON.parse(JSON.stringify(document).replaceAll(EXAMPLE_BASE, () => base));
}

/** The document's `info`. */
function describeApi(publicUrl: string) {
  return {
    title: 'External Payments Service',
    version: readVersion(),
    contact: { name: 'Operator of this installation', url: `${publicUrl}/docs` },
    license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    description: `Merchants' servers create payments and read them back; customers pay on a hosted checkout; partners pull reports.

Every request of v1 and of the partner reports is signed: see [signing](${publicUrl}/docs/signing). [Quickstart](${publicUrl}/docs/quickstart) leads to a first payment.

## Errors

Every error is JSON with one \`error\` object. Decide by \`errorCode\` or \`code\`, and retry only where \`X-MP-Should-Retry\` is \`true\`.

| errorCode | code | HTTP | Retry |
|---|---|---|---|
${errorRows(publicUrl)}`,
  };
}

function errorRows(publicUrl: string): string {
  return ERROR_CODES.map(errorCode => {
    const { code, status, retry } = ERRORS[errorCode];
    const link = `[${errorCode}](${publicUrl}/docs/errors/${errorCode})`;
    return `| ${link} | \`${code}\` | ${status} | ${retry ? 'yes' : 'no'} |`;
  }).join('\n');
}
