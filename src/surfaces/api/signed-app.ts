import { type AuthenticationDependencies, registerAuthentication } from '#http/authentication.ts';
import { registerJsonBody } from '#http/json-body.ts';
import type { KeyUsage } from '#http/key-usage.ts';
import { type Recording, recordRequests } from '#http/recorded-requests.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { failUnknownRoutesIn } from '#http/unknown-routes.ts';

interface SignedOptions extends AuthenticationDependencies {
  /** Stores when each key was last used. */
  readonly usage: KeyUsage;
  readonly recording: Recording;
  readonly register: (app: TypedApp) => void;
}

/** Routes that require a signature. */
export async function signedPlugin(
  app: TypedApp,
  { usage, recording, register, ...authentication }: SignedOptions,
): Promise<void> {
  failUnknownRoutesIn(app);
  usage.follow(app);
  recordRequests(app, recording);
  registerJsonBody(app);
  registerAuthentication(app, authentication);
  register(app);
}
