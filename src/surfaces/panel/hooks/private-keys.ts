import type { FastifyInstance } from 'fastify';
import { looksPrivate } from '#chains/private-key.ts';
import { PanelRefusal } from './refusal.ts';

/** Fields of passwords: one may be of a dozen words, and is stored as a hash alone. */
const PASSWORDS: ReadonlySet<string> = new Set(['password', 'new-password']);

/**
 * Refuses private keys and seed words in every field of a form and of a query, before a handler or a page sees them:
 * people paste them where an address or a key is asked for, and nobody may ever have them.
 * @throws PanelRefusal
 */
export function refusePrivateKeys(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ query }) => refuseIn(query));
  app.addHook('preValidation', async ({ body }) => refuseIn(body));
}

function refuseIn(fields: unknown): void {
  for (const [name, value] of Object.entries(fields ?? {})) {
    if (PASSWORDS.has(name)) continue;
    const texts = [value].flat().filter(each => typeof each === 'string');
    if (texts.some(looksPrivate)) throw new PanelRefusal({ kind: 'private-key' });
  }
}
