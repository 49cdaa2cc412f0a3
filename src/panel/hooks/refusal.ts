import type { Membership } from '../../repositories/people/memberships.ts';
import type { Permission } from '../access/permissions.ts';

/** Why the panel does not answer a request, beside the errors that the API has as well. */
export type PanelRefusalReason =
  /** Nobody has signed in, or the session has ended. */
  | { readonly kind: 'signed-out' }
  /** The second factor is still asked for. */
  | { readonly kind: 'half-signed-in' }
  /** Another site has sent the form or led to the file, or nobody can tell which. */
  | { readonly kind: 'foreign-origin' }
  | {
      readonly kind: 'not-allowed';
      readonly membership: Membership;
      readonly permission: Permission;
      /** Names of those who may. */
      readonly deciders: readonly string[];
    }
  /** The second factor was given more than ten minutes ago. */
  | { readonly kind: 'factor-needed' }
  /** The account is inactive: it can be read, and nothing can be changed. */
  | { readonly kind: 'account-inactive' };

export class PanelRefusal extends Error {
  readonly reason: PanelRefusalReason;

  constructor(reason: PanelRefusalReason) {
    super(`refused by the panel: ${reason.kind}`);
    this.name = 'PanelRefusal';
    this.reason = reason;
  }
}
