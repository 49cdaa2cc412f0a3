import { readFileSync } from 'node:fs';
import type { OpenApiDocument, OperationObject, Parameter } from './openapi/document.ts';

/** Where Postman imports the collection from. */
export const POSTMAN_PATH = '/postman.json';

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
const SIGNING_SCRIPT = readFileSync(
  new URL('./snippets/sign-in-postman.js', import.meta.url),
  'utf8',
);
/** Variables that the script reads; they are empty, so that no key gets into a shared collection by accident. */
const CREDENTIALS = ['keyId', 'secret', 'passphrase'];

interface Variable {
  readonly key: string;
  readonly value: string;
  readonly description?: string;
  /** Not sent until it is switched on. */
  readonly disabled?: boolean;
}

interface PostmanRequest {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly description: string;
    readonly header: readonly Variable[];
    readonly url: {
      readonly raw: string;
      readonly host: readonly string[];
      readonly path: readonly string[];
      readonly query: readonly Variable[];
      readonly variable: readonly Variable[];
    };
    readonly body?: { readonly mode: 'raw'; readonly raw: string };
  };
}

/** The part of a Postman collection, version 2.1, that this writes. */
export interface PostmanCollection {
  readonly info: { readonly name: string; readonly description: string; readonly schema: string };
  readonly variable: readonly Variable[];
  readonly event: readonly {
    readonly listen: 'prerequest';
    readonly script: { readonly type: 'text/javascript'; readonly exec: readonly string[] };
  }[];
  /** Folders, one for each tag. */
  readonly item: readonly { readonly name: string; readonly item: readonly PostmanRequest[] }[];
}

/** Writes the signed operations of the OpenAPI document as a collection whose requests are signed when sent. */
export function writePostmanCollection(document: OpenApiDocument): PostmanCollection {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => operation.deprecated !== true)
      .map(([method, operation]) => ({ tag: operation.tags[0], method, path, operation })),
  );
  const byTag = Map.groupBy(operations, ({ tag = '' }) => tag);
  const baseUrl = document.servers[0]?.url ?? '';
  return {
    info: {
      name: document.info.title,
      description: `Set the variables ${CREDENTIALS.join(', ')} to those of your API key. Reference: ${document.info.contact.url}`,
      schema: SCHEMA,
    },
    variable: [{ key: 'baseUrl', value: baseUrl }, ...CREDENTIALS.map(key => ({ key, value: '' }))],
    event: [
      {
        listen: 'prerequest',
        script: { type: 'text/javascript', exec: SIGNING_SCRIPT.trimEnd().split('\n') },
      },
    ],
    item: [...byTag].map(([name, ofTag]) => ({
      name,
      item: ofTag.map(({ method, path, operation }) => writeRequest(method, path, operation)),
    })),
  };
}

function writeRequest(method: string, path: string, operation: OperationObject): PostmanRequest {
  const { summary: name, description, parameters = [], requestBody } = operation;
  const of = (where: Parameter['in']) => parameters.filter(parameter => parameter.in === where);
  const target = path.replaceAll(/\{(\w+)\}/g, ':$1');
  const body = requestBody?.content['application/json']?.example;
  const header = of('header').map(parameter => {
    // A new idempotency key for each request: with the documented one, the response would be replayed.
    return { ...variableOf(parameter), value: '{{$guid}}' };
  });
  return {
    name,
    request: {
      method: method.toUpperCase(),
      description,
      header:
        body === undefined
          ? header
          : [{ key: 'Content-Type', value: 'application/json' }, ...header],
      url: {
        raw: `{{baseUrl}}${target}`,
        host: ['{{baseUrl}}'],
        path: target.slice(1).split('/'),
        query: of('query').map(parameter => ({ ...variableOf(parameter), disabled: true })),
        variable: of('path').map(variableOf),
      },
      ...(body === undefined
        ? {}
        : { body: { mode: 'raw', raw: JSON.stringify(body, null, 2) } as const }),
    },
  };
}

function variableOf({ name, description, example }: Parameter): Variable {
  const value = example === undefined ? '' : String(example);
  return { key: name, value, ...(description === undefined ? {} : { description }) };
}
