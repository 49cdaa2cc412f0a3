import type { FastifyRequest } from 'fastify';

/** Adds the IDs of the person and the account to the log line of a request. */
export function noteOwner(
  request: FastifyRequest,
  owner: { readonly personId?: string; readonly accountId?: string },
): void {
  request.noted = { ...request.noted, ...owner };
}

/**
 * Adds to the log line of a request why it is refused, unless a more exact reason is there already.
 * @param refusal A constant of the code, never text that was sent.
 * @param field The field of a form that the refusal is about, if it is about one.
 */
export function noteRefusal(
  request: FastifyRequest,
  refusal: string,
  field: string | null = null,
): void {
  const { noted } = request;
  const about = field === null ? {} : { field };
  request.noted = { ...noted, refusal: noted?.refusal ?? refusal, ...about };
}
