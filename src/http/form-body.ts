import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { readRawBody } from './raw-body.ts';
import { isUsableText, UNUSABLE_TEXT } from './usable-text.ts';
import { describeUnknownField } from './validation.ts';

/**
 * Parses form bodies into URLSearchParams and refuses all others, and text that cannot be stored.
 * @param limitBytes Size of the largest one.
 */
export function registerFormBody(app: FastifyInstance, limitBytes: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/x-www-form-urlencoded', async (request: FastifyRequest) => {
    const body = await readRawBody(request.raw, limitBytes);
    const form = new URLSearchParams(body.toString());
    for (const [param, value] of form) {
      if (!isUsableText(param + value)) throw new ApiError('E1001', UNUSABLE_TEXT, { param });
    }
    return form;
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
  if (!(body instanceof URLSearchParams)) return [];
  const values = body.getAll(name);
  if (values.length > maximum) {
    throw new ApiError('E1001', `At most ${maximum} of ${name} are taken at once.`, {
      param: name,
    });
  }
  body.delete(name);
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
  const form = body instanceof URLSearchParams ? body : new URLSearchParams();
  const known: readonly string[] = names;
  const unknown = [...form.keys()].find(name => !known.includes(name));
  if (unknown !== undefined) {
    const message = describeUnknownField('form', unknown, known);
    throw new ApiError('E1002', message, { param: unknown });
  }
  const fields = names.map(name => {
    const [value = optional.includes(name) ? '' : undefined, ...more] = form.getAll(name);
    if (value === undefined || more.length > 0) {
      throw new ApiError('E1001', `The form needs one ${name}.`, { param: name });
    }
    return [name, value];
  });
  return Object.fromEntries(fields);
}
