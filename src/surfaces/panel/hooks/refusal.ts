import type { Membership } from '#storage/repositories/people/memberships.ts';

/** Why the panel refuses a request, besides the errors that it shares with the API. */
export type PanelRefusalReason =
  /** The visitor has not signed in, or the session has ended. */
  | { readonly kind: 'signed-out' }
  /** The visitor has not given the second factor yet. */
  | { readonly kind: 'half-signed-in' }
  /** A page of another site sent the form or led to the file, or the request does not say where it is from. */
  | { readonly kind: 'foreign-origin' }
  | {
      readonly kind: 'not-allowed';
      readonly membership: Membership;
      /** Names of the people whose role allows it. */
      readonly admins: readonly string[];
    }
  /** A field has a private key or the words of a wallet. */
  | { readonly kind: 'private-key' }
  /** The account is inactive: it can be read but not changed. */
  | { readonly kind: 'account-inactive' };

export class PanelRefusal extends Error {
  readonly reason: PanelRefusalReason;

  constructor(reason: PanelRefusalReason) {
    super(`refused by the panel: ${reason.kind}`);
    this.name = 'PanelRefusal';
    this.reason = reason;
  }
}
