import { type AuthenticationDependencies, registerAuthentication } from '../http/authentication.ts';
import { registerJsonBody } from '../http/json-body.ts';
import type { KeyUsage } from '../http/key-usage.ts';
import type { TypedApp } from '../http/typed-app.ts';
import { failUnknownRoutesIn } from '../http/unknown-routes.ts';

/** A part of the application whose routes are signed. */
export type SignedApp = TypedApp;

interface SignedOptions extends AuthenticationDependencies {
  /** Notes when each key was used. */
  readonly usage: KeyUsage;
  readonly register: (app: SignedApp) => void;
}

/** Routes that ask for a signature. */
export async function signedPlugin(
  app: TypedApp,
  { usage, register, ...authentication }: SignedOptions,
): Promise<void> {
  failUnknownRoutesIn(app);
  usage.follow(app);
  registerJsonBody(app);
  registerAuthentication(app, authentication);
  register(app);
}
