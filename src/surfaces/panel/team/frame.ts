import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { membershipOf, sessionOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { accountPath } from '../kit/navigation.ts';
import { PLACES } from '../kit/places.ts';

/** What the pages of a team are made with. */
export interface TeamFrame {
  readonly kind: Membership['kind'];
  /** The list's address, with the base path. */
  readonly url: string;
  /** ID of the visitor's own user or member. */
  readonly ownId: string;
  readonly isDemo: boolean;
  readonly mayManage: boolean;
  readonly sendsMail: boolean;
}

export function frameOf(
  request: FastifyRequest,
  { panelUrl, sendsMail }: PanelDependencies,
): TeamFrame {
  const membership = membershipOf(request);
  const { kind, memberId } = membership;
  return {
    kind,
    url: basePathOf(panelUrl) + teamPath(request),
    ownId: memberId,
    isDemo: sessionOf(request).person.is_demo,
    mayManage: isChangeAllowed(membership, 'team.manage'),
    sendsMail,
  };
}

/** Path of the team of the account in the path, without the base path. */
export function teamPath(request: FastifyRequest): string {
  const membership = membershipOf(request);
  return accountPath(membership) + PLACES[membership.kind].team;
}
