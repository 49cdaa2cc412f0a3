import type { FastifyRequest } from 'fastify';

/** Whether the request is a browser's, which names HTML before it takes anything. */
export function wantsHtml({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true;
}
