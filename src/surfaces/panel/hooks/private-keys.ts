import type { FastifyInstance } from 'fastify';
import { looksConfidential, looksPrivate } from '#chains/private-key.ts';
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

/** A path without its query, if that has a key: whatever repeats the path would keep the key in logs and histories. */
export function withoutKeys(path: string): string {
  const at = path.indexOf('?');
  const fields = at < 0 ? [] : [...new URLSearchParams(path.slice(at))].flat();
  return fields.some(looksConfidential) ? path.slice(0, at) : path;
}

function refuseIn(fields: unknown): void {
  for (const [name, value] of Object.entries(fields ?? {})) {
    if (PASSWORDS.has(name)) continue;
    const texts = [value].flat().filter(each => typeof each === 'string');
    if (texts.some(looksPrivate)) throw new PanelRefusal({ kind: 'private-key' });
  }
}
