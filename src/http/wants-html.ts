import type { FastifyRequest } from 'fastify';

/** Whether a browser sent the request: browsers name HTML in Accept, other clients rarely do. */
export function wantsHtml({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true;
}
