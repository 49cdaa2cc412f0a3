import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import { isAllowed, needsRecentFactor, type Permission } from '#accounts/access/permissions.ts';
import type { Operator } from '#accounts/audit/audited-change.ts';
import { actorOf } from '#accounts/people/actor.ts';
import { type OpenSession, openSession, type Visitor } from '#accounts/people/panel-sessions.ts';
import { ApiError } from '#errors/api-error.ts';
import { clientSite } from '#http/client-address.ts';
import { pathOf } from '#http/request-target.ts';
import { UUID } from '#schemas/uuid.ts';
import {
  findMembership,
  listAdmins,
  type Membership,
} from '#storage/repositories/people/memberships.ts';
import type { PanelDependencies } from './dependencies.ts';
import { logOwner, logRefusal } from './log-fields.ts';
import { PanelRefusal } from './refusal.ts';
import { requireSameOrigin } from './same-origin.ts';

/** An account in a path of the panel: its kind, and its ID. */
const ACCOUNT = /\/(?<kind>merchant|partner)s\/(?<id>[^/]+)/;

/** Header that `script.js` sends when an open page refreshes itself. */
const REFRESH_HEADER = 'x-panel-refresh';

/** Who may use a route of the panel. */
export type PanelRule =
  /** Everybody, signed in or not. */
  | { readonly for: 'anybody' }
  /** Somebody who has given the password, and is asked for the second factor. */
  | { readonly for: 'half-signed-in' }
  /**
   * Everybody who has signed in, for what is their own; `recent` requires a second factor given in the last ten
   * minutes.
   */
  | { readonly for: 'person'; readonly recent?: true }
  /** People with this permission in the account that the path names. */
  | { readonly for: Membership['kind']; readonly permission: Permission };

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use a route; required below `registerPanelAccess`. */
    panel?: PanelRule;
  }
  interface FastifyRequest {
    /** The visitor of a page of the panel; null outside of the panel. */
    visit: PanelVisit | null;
  }
}

interface PanelVisit {
  /** null for a visitor who has not signed in. */
  readonly session: OpenSession | null;
  /** The visitor's membership of the account in the path; null for a path without an account. */
  readonly membership: Membership | null;
  readonly visitor: Visitor;
  /** The session's new token, which the response sets; none if it keeps its own. */
  readonly newToken?: string;
  /** Whether the change needs a second factor: none was given in the last ten minutes. */
  readonly needsFactor: boolean;
  /** What the top of each page of the account says. */
  readonly notices: readonly AccountNotice[];
}

/** A line at the top of each page of an account, and the page that says more. */
export interface AccountNotice {
  readonly text: string;
  /** Without the base path. */
  readonly href: string;
}

/** Reads what the pages of an account say at their top to a person. */
type ReadNotices = (
  request: FastifyRequest,
  account: Membership,
  person: OpenSession['person'],
) => Promise<readonly AccountNotice[]>;

/** What is read about the account of a page. */
interface OwnAccount extends Pick<PanelVisit, 'notices'> {
  readonly membership: Membership;
}

/** `accountId` may be missing or any text, since access is decided before paths are validated. */
type AccountRoute = { Params: { accountId?: string } };

export const FOR_ANYBODY = { config: { panel: { for: 'anybody' } } } as const;
export const FOR_HALF_SIGNED_IN = { config: { panel: { for: 'half-signed-in' } } } as const;
export const FOR_PERSON = { config: { panel: { for: 'person' } } } as const;

/** Options of a route that requires a permission in an account. */
export function withPermission<S extends FastifySchema = FastifySchema>(
  kind: Membership['kind'],
  permission: Permission,
  schema: S = {} as S,
) {
  return { config: { panel: { for: kind, permission } }, schema };
}

/**
 * Decides for every route of `app` who may use it, in this order: origin, session, account, permission, and whether
 * a change needs a second factor, which `registerConfirmation` asks for. Handlers never look at roles. A route
 * without a rule cannot be registered.
 */
export function registerPanelAccess(
  app: FastifyInstance,
  deps: PanelDependencies,
  readNotices: ReadNotices,
): void {
  app.decorateRequest('visit', null);
  app.addHook('onRoute', route => {
    if (route.config?.panel === undefined) throw new Error(`${route.url} has no panel rule`);
  });
  app.addHook<AccountRoute>('onRequest', async request => {
    const rule = request.routeOptions.config.panel;
    if (rule === undefined) {
      // A path without a route. The page that says so has the account's navigation, if the visitor may enter it.
      await recognize(request, deps, readNotices);
      throw deps.explainUnknownRoute(request);
    }
    if (isChange(request)) requireSameOrigin(request, deps.panelUrl);
    await admit(request, rule, deps, readNotices);
  });
}

function isChange({ method }: FastifyRequest): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/**
 * Finds the visitor's session, if there is one, and counts the request.
 * @throws ApiError E9001 for too many requests.
 */
async function visit(
  request: FastifyRequest,
  { db, clock, cookies, limits, admitsDemo }: PanelDependencies,
): Promise<PanelVisit> {
  const visitor = {
    device: request.headers['user-agent'] ?? '',
    address: request.clientAddress ?? '',
    site: clientSite(request),
    deviceToken: cookies.readDevice(request),
  };
  const token = cookies.readSession(request);
  const now = new Date(clock());
  // Forging this header can only make a session end sooner.
  const isRefresh = request.headers[REFRESH_HEADER] !== undefined;
  const open =
    token === undefined ? undefined : await openSession(db, token, { now, admitsDemo, isRefresh });
  const seen = {
    session: open ?? null,
    membership: null,
    visitor,
    needsFactor: false,
    notices: [],
  };
  request.visit = seen;
  if (open === undefined) {
    await limits.countPage(request);
  } else {
    request.panelSessionId = open.session.id;
    logOwner(request, { personId: open.person.id });
    await limits.countPanel(request);
  }
  return seen;
}

/** Finds the visitor's session and account on a path without a route. */
async function recognize(
  request: FastifyRequest,
  deps: PanelDependencies,
  readNotices: ReadNotices,
): Promise<void> {
  const seen = await visit(request, deps);
  const { kind, id } = ACCOUNT.exec(pathOf(request.url))?.groups ?? {};
  if (seen.session?.isComplete !== true) return;
  const own = { kind: kind as Membership['kind'], id };
  const found = await findOwn(request, deps, readNotices, seen.session, own);
  if (found !== undefined) logOwner(request, { accountId: found.membership.accountId });
  request.visit = { ...seen, ...(found ?? {}) };
}

/**
 * Refuses a visitor who may not use a route.
 * @throws PanelRefusal; ApiError E3001 for somebody else's account, E9001 for too many requests.
 */
async function admit(
  request: FastifyRequest<AccountRoute>,
  rule: PanelRule,
  deps: PanelDependencies,
  readNotices: ReadNotices,
): Promise<void> {
  const seen = await visit(request, deps);
  const { session } = seen;
  if (rule.for === 'anybody') return;
  if (session === null) throw new PanelRefusal({ kind: 'signed-out' });
  if (rule.for === 'half-signed-in') {
    if (session.isComplete) throw new ApiError('E3001');
    return;
  }
  if (!session.isComplete) throw new PanelRefusal({ kind: 'half-signed-in' });
  if (rule.for === 'person') {
    request.visit = { ...seen, needsFactor: rule.recent === true && isStale(request, session) };
    return;
  }
  const { permission } = rule;
  const own = { kind: rule.for, id: request.params.accountId };
  const found = await findOwn(request, deps, readNotices, session, own);
  if (found === undefined) {
    logRefusal(request, 'not-a-member');
    throw new ApiError('E3001');
  }
  const needsFactor = needsRecentFactor(permission) && isStale(request, session);
  request.visit = { ...seen, ...found, needsFactor };
  const { membership } = found;
  logOwner(request, { accountId: membership.accountId });
  if (!isAllowed(membership.role, permission)) {
    const admins = await listAdmins(deps.db, membership.kind, membership.accountId);
    throw new PanelRefusal({ kind: 'not-allowed', membership, admins });
  }
  if (membership.status !== 'active' && isChange(request)) {
    throw new PanelRefusal({ kind: 'account-inactive' });
  }
}

/** Whether a change comes too long after the session's second factor. Pages that only show are never too late. */
function isStale(request: FastifyRequest, { isRecent }: OpenSession): boolean {
  return isChange(request) && !isRecent;
}

/** @param id As it is in the path: any text. */
async function findOwn(
  request: FastifyRequest,
  { db }: PanelDependencies,
  readNotices: ReadNotices,
  { person }: OpenSession,
  { kind, id = '' }: { readonly kind: Membership['kind']; readonly id: string | undefined },
): Promise<OwnAccount | undefined> {
  if (!UUID.test(id)) return undefined;
  const membership = await findMembership(db, person.id, kind, id);
  if (membership === undefined) return undefined;
  return { membership, notices: await readNotices(request, membership, person) };
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

/** The visitor's membership of the account that a route names. */
export function membershipOf(request: FastifyRequest): Membership {
  const { membership } = visitOf(request);
  if (membership === null) throw new Error('the route names no account');
  return membership;
}

/** Who makes a change, for the audit log. */
export function operatorOf(
  request: FastifyRequest,
  { db, clock }: Pick<PanelDependencies, 'db' | 'clock'>,
): Operator {
  const { membership, visitor } = visitOf(request);
  const { person } = sessionOf(request);
  return {
    db,
    clock,
    actor: actorOf(person),
    personId: person.id,
    address: visitor.address,
    accountId: membership?.accountId ?? null,
    origin: person.is_demo ? 'demo' : 'panel',
  };
}
