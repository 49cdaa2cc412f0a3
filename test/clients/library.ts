import type { MerchantWithKey } from '../helpers/accounts.ts';
import type { TestApp } from '../helpers/app.ts';
import type { Driver } from './installed-libraries.ts';
import { CREDENTIALS, type ScriptedServer } from './javascript/scripted-server.ts';

/** A library under test, and what it calls. */
export interface Library {
  readonly driver: Driver;
  readonly calls: ReturnType<typeof callsOf>;
  readonly service: TestApp;
  /** Follows a script. */
  readonly server: ScriptedServer;
  /** The values of a header in the requests that the scripted server has received. */
  header(name: string): (string | string[] | undefined)[];
}

interface Outcome<T> {
  readonly result?: T;
  readonly error?: Readonly<Record<string, unknown>>;
  /** In milliseconds. */
  readonly pauses: readonly number[];
}

/** Asks the driver for calls of the library. */
export function callsOf(
  ask: Driver['ask'],
  { origin, shop, server }: { origin: string; shop: MerchantWithKey; server: ScriptedServer },
) {
  const call = <T>(target: object, name: string, given: object) =>
    ask<Outcome<T>>({
      kind: 'call',
      timeoutMs: 30_000,
      maxAttempts: 4,
      call: name,
      arguments: given,
      ...target,
    });
  const { keyId, secret, passphrase } = shop;
  return {
    /** Calls the service. */
    real: <T>(name: string, given: object = {}, target: object = {}) =>
      call<T>({ url: origin, keyId, secret, passphrase, ...target }, name, given),
    /** Calls the scripted server. */
    scripted: <T>(name: string, given: object = {}, target: object = {}) =>
      call<T>({ url: server.url, ...CREDENTIALS, ...target }, name, given),
  };
}
