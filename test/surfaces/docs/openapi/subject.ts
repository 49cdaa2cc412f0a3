import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import type {
  Header,
  OpenApiDocument,
  OperationObject,
  ResponseObject,
} from '#surfaces/docs/openapi/document.ts';
import type { TestApp } from '../../../helpers/app.ts';
import type { Answer } from '../../../helpers/refusal.ts';

/** An operation of the document, and its location. */
export interface DocumentedOperation {
  readonly id: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly operation: OperationObject;
}

/** The document as the service serves it, and functions that check responses against it. */
export interface Contract {
  readonly document: OpenApiDocument;
  readonly operations: readonly DocumentedOperation[];
  operation(id: string): DocumentedOperation;
  /** Expects status, body and headers to be as documented. */
  hold(id: string, answer: Answer): void;
  /** Expects a value to match a schema of the document, given by its JSON pointer. */
  expectFit(value: unknown, pointer: string): void;
}

/** Headers with information about a response: none of them may be sent undocumented. */
const TELLING = [
  'x-request-id',
  'x-mp-should-retry',
  'retry-after',
  'ratelimit-policy',
  'ratelimit',
  'idempotent-replayed',
  'deprecation',
  'link',
  'sunset',
  'www-authenticate',
];

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const FORMATS = {
  uuid: /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i,
  date: /^\d{4}-\d\d-\d\d$/,
  'date-time': DATE_TIME,
};

export async function readContract({ app }: Pick<TestApp, 'app'>): Promise<Contract> {
  const answer = await app.inject({ url: '/openapi.json' });
  expect(answer.statusCode).toBe(200);
  const document: OpenApiDocument = answer.json();
  // The document is no schema itself, but contains some.
  const ajv = new Ajv2020({ strict: false, formats: FORMATS, allErrors: true });
  ajv.addSchema({ ...document, $id: 'openapi' });
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase() as DocumentedOperation['method'],
      path,
      operation,
    })),
  );
  const operation = (id: string) => {
    const found = operations.find(candidate => candidate.id === id);
    if (found === undefined) throw new Error(`there is no operation ${id}`);
    return found;
  };
  const expectFit = (value: unknown, pointer: string) => {
    const validate = ajv.compile({ $ref: `openapi#${pointer}` });
    expect(validate(value) ? [] : validate.errors, JSON.stringify(value)).toEqual([]);
  };

  return {
    document,
    operations,
    operation,
    expectFit,
    hold(id, { statusCode, headers, body }) {
      const { path, method, operation: documented } = operation(id);
      const status = String(statusCode);
      const response: ResponseObject | undefined = documented.responses[status];
      if (response === undefined) throw new Error(`${id} does not document ${status}: ${body}`);
      const part = path.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D');
      const pointer = `/paths/${part}/${method.toLowerCase()}/responses/${status}`;
      expectFit(JSON.parse(body), `${pointer}/content/application~1json/schema`);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      for (const [name, { $ref }] of Object.entries(response.headers ?? {})) {
        const header: Header | undefined =
          document.components.headers[$ref.split('/').at(-1) ?? ''];
        if (header === undefined) throw new Error(`${$ref} leads nowhere`);
        const value = headers[name.toLowerCase()];
        if (header.required) expect(headers).toHaveProperty(name.toLowerCase());
        if (value === undefined) continue;
        const read = header.schema.type === 'integer' ? Number(value) : value;
        expectFit(read, `/components/headers/${name}/schema`);
      }
      const names = Object.keys(response.headers ?? {}).map(name => name.toLowerCase());
      const sent = TELLING.filter(name => headers[name] !== undefined);
      expect(sent.filter(name => !names.includes(name))).toEqual([]);
    },
  };
}
