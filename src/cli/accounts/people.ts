import { audited } from '#accounts/audit/audited-change.ts';
import { JOIN_PATH, type NewLink } from '#accounts/people/invitations.ts';
import type { Config } from '#config/config.ts';
import { makeDemoLink } from '#runtime/development/demo-link.ts';
import { findService } from '#runtime/development/local-service.ts';
import type { ActiveStatus } from '#storage/database/account-tables.ts';
import type { LinkPurpose } from '#storage/database/people-tables.ts';
import { deleteSessionsOf } from '#storage/repositories/people/sessions.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Session } from '../session.ts';
import { CommandFailed } from '../terminal.ts';
import { choice, parseEmail, parseId, parseName } from '../values.ts';

export const LINK_SHOWN_ONCE =
  'Whoever has the link gets in, once: send it to nobody else. It is shown only now.';

type Renewal = Extract<LinkPurpose, 'password' | 'factors' | 'both'>;

/** How the commands for users of merchants and for members of partners differ. */
interface People<Role extends string, Shown extends { readonly id: string }> {
  readonly subject: 'user' | 'member';
  readonly owner: 'merchant' | 'partner';
  readonly roles: readonly Role[];
  /** What the flags decide, for the help. */
  readonly help: { readonly newRole: string; readonly role: string; readonly status: string };
  readonly columns: readonly (keyof Shown & string)[];
  create(
    session: Session,
    ownerId: string,
    given: { readonly name: string; readonly email: string; readonly role: Role },
  ): Promise<Shown>;
  list(session: Session, ownerId: string): Promise<Shown[]>;
  set(
    session: Session,
    id: string,
    change: { readonly status?: ActiveStatus; readonly role?: Role },
  ): Promise<Shown>;
  invite(session: Session, id: string): Promise<NewLink>;
  renew(session: Session, id: string, purpose: Renewal): Promise<NewLink>;
  /** ID of the person who signs in as the user or member; null if nobody does, undefined without a user or member. */
  findPerson(session: Session, id: string): Promise<string | null | undefined>;
}

interface CreateFlags<Role extends string> {
  readonly merchant?: string;
  readonly partner?: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly invite?: true;
}

interface LinkFlags {
  readonly password?: true;
  readonly factors?: true;
}

/** Adds `create`, `list`, `set`, `invite`, `link` and `sign-out`. */
export function addPeopleVerbs<Role extends string, Shown extends { readonly id: string }>(
  noun: CliCommand,
  people: People<Role, Shown>,
): void {
  const { subject, owner, roles, help, columns } = people;

  noun
    .verb('create', `add a ${subject} to a ${owner}`)
    .requiredOption(`--${owner} <id>`, `${owner} ID`, parseId)
    .requiredOption('--name <name>', 'name, up to 200 characters', parseName)
    .requiredOption('--email <address>', 'e-mail address', parseEmail)
    .addOption(choice('--role <role>', help.newRole, roles).makeOptionMandatory())
    .option('--invite', `print a link with which the ${subject} joins the panel`)
    .onDatabase(async (session, { name, email, role, ...flags }: CreateFlags<Role>) => {
      const created = await people.create(session, flags[owner] ?? '', { name, email, role });
      if (flags.invite === undefined) return session.show(created);
      const link = await linkObject(session, await people.invite(session, created.id));
      session.show({ ...created, ...link }, LINK_SHOWN_ONCE);
    });

  noun
    .verb('list', `list the ${subject}s of a ${owner}, newest first`)
    .requiredOption(`--${owner} <id>`, `${owner} ID`, parseId)
    .onDatabase(async (session, flags: Pick<CreateFlags<Role>, 'merchant' | 'partner'>) => {
      session.showList(await people.list(session, flags[owner] ?? ''), columns);
    });

  noun
    .verb('set', `change a ${subject}`)
    .argument('<id>', `${subject} ID`, parseId)
    .addOption(choice('--status <status>', help.status, ['active', 'inactive']))
    .addOption(choice('--role <role>', help.role, roles))
    .atLeastOneOf('status', 'role')
    .onDatabase(async (session, id: string, flags: { status?: ActiveStatus; role?: Role }) => {
      session.show(await people.set(session, id, flags));
    });

  noun
    .verb('invite', `print a link with which a ${subject} joins the panel, for 72 hours`)
    .argument('<id>', `${subject} ID`, parseId)
    .onDatabase(async (session, id: string) => {
      const invitation = await people.invite(session, id);
      session.show(await linkObject(session, invitation), LINK_SHOWN_ONCE);
    });

  noun
    .verb('link', `print a link with which a ${subject} replaces lost factors, for an hour`)
    .argument('<id>', `${subject} ID`, parseId)
    .option('--password', 'a new password; the authenticator app stays')
    .option('--factors', 'a new authenticator app; the password stays')
    .addHelpText('after', '\nWith both flags, or none, the link replaces both.')
    .onDatabase(async (session, id: string, flags: LinkFlags) => {
      const link = await people.renew(session, id, purposeOf(flags));
      session.show(await linkObject(session, link), LINK_SHOWN_ONCE);
    });

  noun
    .verb('sign-out', `end all sessions of the person who signs in as a ${subject}`)
    .argument('<id>', `${subject} ID`, parseId)
    .onDatabase(async (session, id: string) => {
      const personId = await people.findPerson(session, id);
      if (personId == null) throw new CommandFailed(`Nobody signs in as ${subject} ${id}.`);
      const sessionsEnded = await audited(session, `${subject}.sign-out`, async tx => {
        const result = await deleteSessionsOf(tx, personId, null);
        return { result, objectId: id, detail: { sessions: result } };
      });
      session.show({ id, sessionsEnded });
    });
}

function purposeOf({ password, factors }: LinkFlags): Renewal {
  if (password === factors) return 'both';
  return password === true ? 'password' : 'factors';
}

/**
 * A link as it is printed.
 * @throws CommandFailed where the service has no panel.
 */
export async function linkObject({ config }: Session, { token, expiresAt }: NewLink) {
  return { link: `${await findPanel(config)}${JOIN_PATH}/${token}`, linkExpiresAt: expiresAt };
}

/** @throws CommandFailed unless this is the embedded database with its demo. */
export async function newDemoLink(session: Session) {
  const { config } = session;
  const path =
    config.databaseUrl === null && config.environment !== 'production'
      ? await makeDemoLink(config.dataDirectory, session)
      : undefined;
  if (path === undefined) throw new CommandFailed('There is no demo here.');
  return { link: (await findPanel(config)) + path };
}

/** Base URL of the panel. */
async function findPanel({ databaseUrl, dataDirectory, panelUrl }: Config): Promise<string> {
  if (panelUrl === null) {
    throw new CommandFailed('There is no panel: set PANEL_URL to where people reach it.');
  }
  // On this machine the service may listen on another port than this command knows.
  const isHere = databaseUrl === null && new URL(panelUrl).hostname === '127.0.0.1';
  return (isHere ? await findService(dataDirectory) : undefined) ?? panelUrl;
}
