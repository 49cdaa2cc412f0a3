import type { FastifyRequest } from 'fastify';

/** Adds the IDs of the person and the account to the log line of a request. */
export function logOwner(
  request: FastifyRequest,
  owner: { readonly personId?: string; readonly accountId?: string },
): void {
  request.logFields = { ...request.logFields, ...owner };
}

/**
 * Adds to the log line of a request why it is refused, unless a more exact reason is there already.
 * @param refusal A constant of the code, never text that was sent.
 * @param field The field of a form that the refusal is about, if it is about one.
 */
export function logRefusal(
  request: FastifyRequest,
  refusal: string,
  field: string | null = null,
): void {
  const { logFields } = request;
  const about = field === null ? {} : { field };
  request.logFields = { ...logFields, refusal: logFields?.refusal ?? refusal, ...about };
}
