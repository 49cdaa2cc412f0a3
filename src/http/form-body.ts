import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { parseQueryString } from './query-string.ts';
import { readRawBody } from './raw-body.ts';
import { isUsableText } from './usable-text.ts';
import { describeUnknownField } from './validation.ts';

/**
 * Parses form bodies into plain objects, like queries: a repeated field is a list. Refuses all other bodies.
 * @param limitBytes Size of the largest one.
 */
export function registerFormBody(app: FastifyInstance, limitBytes: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/x-www-form-urlencoded', async (request: FastifyRequest) => {
    const body = await readRawBody(request.raw, limitBytes);
    return parseQueryString(body.toString());
  });
  app.addContentTypeParser('*', async () => {
    throw new ApiError('E1000', 'Send a form as application/x-www-form-urlencoded.');
  });
}

/**
 * Takes a field that may be given any number of times out of a form, before `readFields` reads the others.
 * @throws ApiError E1001 for more than `maximum` values.
 */
export function takeRepeated({ body }: FastifyRequest, name: string, maximum: number): string[] {
  const form = (body ?? {}) as Record<string, string | string[] | undefined>;
  const values = [form[name] ?? []].flat();
  if (values.length > maximum) {
    throw new ApiError('E1001', `At most ${maximum} of ${name} are taken at once.`, {
      param: name,
    });
  }
  delete form[name];
  return values;
}

/**
 * Reads a form that has exactly the named fields, each once; those in `optional` may be missing, as
 * checkboxes are that are not ticked, and are empty then.
 * @throws ApiError E1002 for an unknown field, E1001 for a missing or repeated one.
 */
export function readFields<const T extends string>(
  { body }: FastifyRequest,
  names: readonly T[],
  optional: readonly T[] = [],
): Record<T, string> {
  const form = (body ?? {}) as Record<string, unknown>;
  const known: readonly string[] = names;
  const unknown = Object.keys(form).find(name => !known.includes(name));
  if (unknown !== undefined) {
    const message = describeUnknownField('form', unknown, known);
    throw new ApiError('E1002', message, { param: unknown });
  }
  const fields = names.map(name => {
    const value = form[name] ?? (optional.includes(name) ? '' : undefined);
    if (typeof value !== 'string' || !isUsableText(value)) {
      throw new ApiError('E1001', `The form needs one ${name}.`, { param: name });
    }
    return [name, value];
  });
  return Object.fromEntries(fields);
}
