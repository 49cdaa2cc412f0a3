import type { Static } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import { findTeamMember, type TeamMember } from '#storage/repositories/people/team.ts';
import { membershipOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import type { MemberParams } from './forms.ts';

/** A request for the pages of somebody in the team. */
export type MemberRequest = FastifyRequest<{ Params: Static<typeof MemberParams> }>;

/** @throws ApiError E3001 for somebody who is not in the team. */
export async function requireMember(
  request: MemberRequest,
  { clock, db }: PanelDependencies,
): Promise<TeamMember> {
  const { kind, accountId } = membershipOf(request);
  const wanted = { id: request.params.memberId, now: new Date(clock()) };
  const member = await findTeamMember(db, kind, accountId, wanted);
  if (member === undefined) throw new ApiError('E3001');
  return member;
}
