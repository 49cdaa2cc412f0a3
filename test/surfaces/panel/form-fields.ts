import type { RouteOptions } from 'fastify';
import { MERCHANT_SCOPES } from '#accounts/keys/scopes.ts';

const ACCENT = ['accent', 'accent-picked', 'accent-shown'];

/** The fields of each form; a form without a line here fails the test. */
const FORMS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/sign-in$/, ['email', 'password']],
  [/sign-in\/code$/, ['code']],
  [/forgotten-password$/, ['email']],
  [/join\/:token$/, ['email', 'password', 'secret', 'code']],
  [/join\/:token\/email$/, ['password']],
  [/profile\/language$/, ['language']],
  [/profile\/email$/, ['email', 'password', 'code']],
  [/profile\/password$/, ['new-password', 'password', 'code']],
  [/profile\/app$/, ['secret', 'new-code', 'password', 'code']],
  [/profile\/recovery-codes$/, ['password', 'code']],
  [/keys\/new$/, ['intent', 'name', 'expiry', 'date', ...MERCHANT_SCOPES]],
  [/explain$/, ['key', 'method', 'url', 'body', 'timestamp', 'nonce', 'signature']],
  [/webhooks\/new$/, ['intent', 'url', 'type']],
  [/webhooks\/.*rotate$/, ['intent']],
  [/redeliver-failed$/, ['since']],
  [/webhooks\/.*(test|disable|enable|redeliver)$/, []],
  [/rotate$/, ['intent', 'grace']],
  [/revoke$/, ['name']],
  [/settings\/branches$/, ['name']],
  [/addresses\/:blockchainId\/(review|remove)$/, ['branch', 'address', 'kind', 'key']],
  [/addresses\/:blockchainId\/propose$/, ['branch', 'address', 'kind', 'key', 'seen', 'code']],
  [/(approve|relax|\/main)$/, ['code']],
  [/team\/invite$/, ['intent', 'name', 'email', 'role', 'code']],
  [/:memberId\/role$/, ['role', 'code']],
  [/:memberId\/status$/, ['status', 'code']],
  [/:memberId\/link$/, ['intent', 'purpose', 'code']],
  [/domains\/(add|remove)$/, ['domain']],
  [/appearance$/, ['support', ...ACCENT, 'shows-note', 'logo', 'removes-logo']],
  [/preview$/, ['support', ...ACCENT, 'shows-note', 'logo', 'removes-logo', 'stage']],
  [/(assign|ask)$/, ['payment', 'sure', 'arrived', 'due']],
  [/dismiss$/, ['deposit', 'remedy', 'to', 'hash', 'note']],
  [/return$/, ['deposit', 'to', 'hash', 'note']],
  [/simulate$/, ['case']],
  [/self-service$/, ['self-service']],
  [/test-twin$/, ['twin']],
  [/attention$/, ['item', 'to']],
  [/:token\/network$/, ['network']],
  [/:token\/clock$/, ['advance']],
  [/sandbox\/:token$/, ['action', 'network']],
  [/(sign-out|accept|second-admin|invitation|cancel|end|end-others|notifications\/:name)$/, []],
];

/** Names of the fields of a route's form. */
export function fieldsOf({ method, url }: RouteOptions): readonly string[] {
  if (method !== 'POST') return [];
  const [, names] = FORMS.find(([pattern]) => pattern.test(url)) ?? [];
  if (names === undefined) throw new Error(`${url} has no line in FORMS`);
  return names;
}
