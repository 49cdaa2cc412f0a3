import { Ajv, type ErrorObject } from 'ajv';
import type { FastifyInstance } from 'fastify';
import { parseBody } from '#http/json-body.ts';
import { readRawBody } from '#http/raw-body.ts';
import { isUsableText } from '#http/usable-text.ts';
import { expectation } from '#http/validation.ts';
import { toCents } from '#payments/dollars.ts';
import { LegacyRefusal } from '../refusal.ts';

const ajv = new Ajv({ removeAdditional: false, coerceTypes: false });
ajv.addFormat('dollars', { type: 'number', validate: dollars => toCents(dollars) !== undefined });

/**
 * Reads, parses and validates bodies of the older contract. Every problem is the refusal `bodyInvalid`.
 * Unknown fields are ignored, as they always were. Register it after authentication: the body of a refused
 * request must not be read.
 */
export function registerLegacyBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
  app.decorateRequest('rawBody');
  app.addHook('onRequest', async request => {
    try {
      request.rawBody = await readRawBody(request.raw);
    } catch (error) {
      refuse(error);
    }
  });
  app.addHook('preValidation', async request => {
    if (request.routeOptions.schema?.body === undefined) return;
    try {
      request.body = parseBody(request);
    } catch (error) {
      refuse(error);
    }
  });
  app.setValidatorCompiler<object>(({ schema }) => {
    const validate = ajv.compile(schema);
    return (value: unknown) => {
      const [error] = validate(value) ? [] : (validate.errors ?? []);
      const problem =
        error === undefined
          ? unusableText(value as Record<string, unknown>)
          : describe(error, value);
      if (problem === undefined) return { value };
      return { error: new LegacyRefusal('bodyInvalid', { detail: problem }) };
    };
  });
}

/** @param error ApiError E1000, whose message describes the problem. */
function refuse(error: unknown): never {
  const detail = error instanceof Error ? error.message : undefined;
  throw new LegacyRefusal('bodyInvalid', { detail, cause: error });
}

/** In our own words: clients depend on this text, and Ajv's changes with its version. */
function describe(error: ErrorObject, body: unknown): string {
  if (error.keyword === 'required') return `${error.params.missingProperty} is required`;
  const field = error.instancePath.slice(1).replaceAll('/', '.');
  if (field === '') return 'it must be a JSON object';
  const isFiner = Number.isNaN(Object(body)[field]);
  if (isFiner || error.params.format === 'dollars')
    return `${field} must have at most two decimals`;
  return `${field} ${expectation(error)}`;
}

function unusableText(body: Record<string, unknown>): string | undefined {
  for (const field of ['note', 'redirectUrl']) {
    const text = body[field];
    if (typeof text === 'string' && !isUsableText(text)) {
      return `${field} must be valid Unicode without NUL characters`;
    }
  }
  return undefined;
}
