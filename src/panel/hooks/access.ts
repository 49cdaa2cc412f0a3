import type { FastifyInstance, FastifyRequest } from 'fastify';
import { UUID } from '#schemas/uuid.ts';
import type { Operator } from '../../audit/audited-change.ts';
import type { Database } from '../../database/connection.ts';
import { ApiError } from '../../errors/api-error.ts';
import { clientAddress, clientSite } from '../../http/client-address.ts';
import type { RateLimits } from '../../http/rate-limit.ts';
import { pathOf } from '../../http/request-target.ts';
import {
  findMembership,
  listDeciders,
  type Membership,
} from '../../repositories/people/memberships.ts';
import type { Clock } from '../../time/clock.ts';
import { isAllowed, needsRecentFactor, type Permission } from '../access/permissions.ts';
import { type OpenSession, openSession, type Visitor } from '../people/panel-sessions.ts';
import type { PanelCookies } from './cookies.ts';
import { PanelRefusal } from './refusal.ts';
import { requireSameOrigin } from './same-origin.ts';

/** An account in a path of the panel: its kind, and its ID. */
const ACCOUNT = /\/(?<kind>merchant|partner)s\/(?<id>[^/]+)/;

/** Who may use a route of the panel. */
export type PanelRule =
  /** Everybody, signed in or not. */
  | { readonly for: 'anybody' }
  /** Whoever has given a password and is asked for the second factor. */
  | { readonly for: 'half-signed-in' }
  /** Everybody who has signed in, for what is their own. */
  | { readonly for: 'person'; readonly recent?: true }
  /** Whoever may do this in the account that the path names. */
  | { readonly for: Membership['kind']; readonly permission: Permission };

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use a route; required below `registerPanelAccess`. */
    panel?: PanelRule;
  }
  interface FastifyRequest {
    /** Who looks at the panel; null outside of it. */
    visit: PanelVisit | null;
  }
}

export interface PanelVisit {
  /** null where nobody has signed in. */
  readonly session: OpenSession | null;
  /** The account in the path; null where there is none. */
  readonly membership: Membership | null;
  readonly visitor: Visitor;
}

/** Access is decided before paths are validated. */
type AccountRoute = { Params: { accountId?: string } };

interface PanelAccessDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly cookies: PanelCookies;
  readonly limits: RateLimits;
  /** Base URL of the panel. */
  readonly panelUrl: string;
  /** Whether people of the demo, who have no factors, may sign in. */
  readonly admitsDemo: boolean;
  /** Why a request has no route. */
  readonly explainUnknownRoute: (request: FastifyRequest) => ApiError;
}

/**
 * Decides for every route of `app` who may use it, in this order: origin, session, account, permission,
 * second factor. Handlers never look at roles. A route without a rule cannot be registered.
 */
export function registerPanelAccess(app: FastifyInstance, deps: PanelAccessDependencies): void {
  app.decorateRequest('visit', null);
  app.addHook('onRoute', route => {
    if (route.config?.panel === undefined) throw new Error(`${route.url} has no panel rule`);
  });
  app.addHook<AccountRoute>('onRequest', async request => {
    const rule = request.routeOptions.config.panel;
    if (rule === undefined) {
      // A path without a route. Who is lost finds the way by the navigation of the account.
      await recognize(request, deps);
      throw deps.explainUnknownRoute(request);
    }
    if (isChange(request)) requireSameOrigin(request, deps.panelUrl);
    await admit(request, rule, deps);
  });
}

function isChange({ method }: FastifyRequest): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/**
 * Notes who looks, as far as that is known, and counts the request.
 * @throws ApiError E9001 for too many requests.
 */
async function visit(
  request: FastifyRequest,
  { db, clock, cookies, limits, admitsDemo }: PanelAccessDependencies,
): Promise<PanelVisit> {
  const visitor = {
    device: request.headers['user-agent'] ?? '',
    address: clientAddress(request) ?? '',
    site: clientSite(request),
    deviceToken: cookies.readDevice(request),
  };
  const token = cookies.readSession(request);
  const session =
    token === undefined
      ? null
      : ((await openSession(db, token, { now: new Date(clock()), admitsDemo })) ?? null);
  const seen = { session, membership: null, visitor };
  request.visit = seen;
  if (session === null) {
    await limits.countPage(request);
  } else {
    request.panelSessionId = session.session.id;
    await limits.countPanel(request);
  }
  return seen;
}

/** Notes who looks at a path without a route, and at which of their accounts. */
async function recognize(request: FastifyRequest, deps: PanelAccessDependencies): Promise<void> {
  const seen = await visit(request, deps);
  const { kind, id = '' } = ACCOUNT.exec(pathOf(request.url))?.groups ?? {};
  if (seen.session?.isComplete !== true || !UUID.test(id)) return;
  const { person } = seen.session;
  const membership = await findMembership(deps.db, person.id, kind as Membership['kind'], id);
  request.visit = { ...seen, membership: membership ?? null };
}

/**
 * Refuses whoever may not use a route.
 * @throws PanelRefusal; ApiError E3001 for an account of others, E9001 for too many requests.
 */
async function admit(
  request: FastifyRequest<AccountRoute>,
  rule: PanelRule,
  deps: PanelAccessDependencies,
): Promise<void> {
  const { db } = deps;
  const { session, visitor } = await visit(request, deps);
  if (rule.for === 'anybody') return;
  if (session === null) throw new PanelRefusal({ kind: 'signed-out' });
  if (rule.for === 'half-signed-in') {
    if (session.isComplete) throw new ApiError('E3001');
    return;
  }
  if (!session.isComplete) throw new PanelRefusal({ kind: 'half-signed-in' });
  if (rule.for === 'person') {
    if (rule.recent === true) requireRecent(session);
    return;
  }
  const membership = await requireMembership(request, db, session, rule.for);
  request.visit = { session, membership, visitor };
  await requirePermission(request, db, membership, rule.permission);
  if (needsRecentFactor(rule.permission)) requireRecent(session);
}

async function requireMembership(
  request: FastifyRequest<AccountRoute>,
  db: Database,
  { person }: OpenSession,
  kind: Membership['kind'],
): Promise<Membership> {
  const { accountId = '' } = request.params;
  const membership = UUID.test(accountId)
    ? await findMembership(db, person.id, kind, accountId)
    : undefined;
  if (membership === undefined) throw new ApiError('E3001');
  return membership;
}

async function requirePermission(
  request: FastifyRequest,
  db: Database,
  membership: Membership,
  permission: Permission,
): Promise<void> {
  if (!isAllowed(membership.role, permission)) {
    const deciders = await listDeciders(db, membership.kind, membership.accountId);
    throw new PanelRefusal({ kind: 'not-allowed', membership, permission, deciders });
  }
  if (membership.status !== 'active' && isChange(request)) {
    throw new PanelRefusal({ kind: 'account-inactive' });
  }
}

function requireRecent({ isRecent }: OpenSession): void {
  if (!isRecent) throw new PanelRefusal({ kind: 'factor-needed' });
}

/** The visit of a request below the panel. */
export function visitOf({ visit }: FastifyRequest): PanelVisit {
  if (visit === null) throw new Error('the route is not one of the panel');
  return visit;
}

/** The session of a request on a route that asks for one. */
export function sessionOf(request: FastifyRequest): OpenSession {
  const { session } = visitOf(request);
  if (session === null) throw new Error('the route does not ask for a session');
  return session;
}

/** The account of a request on a route that names one. */
export function membershipOf(request: FastifyRequest): Membership {
  const { membership } = visitOf(request);
  if (membership === null) throw new Error('the route names no account');
  return membership;
}

/** Who makes a change, for the audit log. */
export function operatorOf(request: FastifyRequest, db: Database, clock: Clock): Operator {
  const { membership, visitor } = visitOf(request);
  const { person } = sessionOf(request);
  return {
    ...{ db, clock, actor: person.email, personId: person.id, address: visitor.address },
    accountId: membership?.accountId ?? null,
    origin: person.is_demo ? 'demo' : 'panel',
  };
}
