import type { Command } from 'commander';
import { audited, OperationRefused } from '../../audit/audited-change.ts';
import type { Config } from '../../config/config.ts';
import type { LinkPurpose } from '../../database/people-tables.ts';
import { makeDemoLink } from '../../development/demo-link.ts';
import { findService } from '../../development/local-service.ts';
import { JOIN_PATH, type NewLink } from '../../panel/people/invitations.ts';
import { deleteSessionsOf } from '../../repositories/people/sessions.ts';
import { printObject } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import { addVerb, type JsonFlag, parseId } from '../values.ts';
import { type Session, withSession } from './session.ts';

export const LINK_SHOWN_ONCE =
  'Whoever has the link gets in, once: send it to nobody else. It is shown only now.';

type Renewal = Extract<LinkPurpose, 'password' | 'factors' | 'both'>;

interface LinkVerbs {
  readonly subject: 'user' | 'member';
  readonly invite: (session: Session, id: string) => Promise<NewLink>;
  readonly link: (session: Session, id: string, purpose: Renewal) => Promise<NewLink>;
  /** ID of the person who signs in as it; undefined without the user or member. */
  readonly findPerson: (session: Session, id: string) => Promise<string | null | undefined>;
}

interface LinkFlags extends JsonFlag {
  readonly password?: true;
  readonly factors?: true;
}

/** Adds `invite`, `link` and `sign-out`, which users and members have alike. */
export function addLinkVerbs(
  noun: Command,
  terminal: Terminal,
  { subject, invite, link, findPerson }: LinkVerbs,
): void {
  addVerb(noun, 'invite', `print a link with which a ${subject} joins the panel, for 72 hours`)
    .argument('<id>', `${subject} ID`, parseId)
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        const object = await linkObject(session, await invite(session, id));
        printObject(terminal, flags, object, LINK_SHOWN_ONCE);
      }),
    );

  addVerb(noun, 'link', `print a link with which a ${subject} replaces lost factors, for an hour`)
    .argument('<id>', `${subject} ID`, parseId)
    .option('--password', 'a new password; the authenticator app stays')
    .option('--factors', 'a new authenticator app; the password stays')
    .addHelpText('after', '\nWith both flags, or none, the link replaces both.')
    .action((id: string, flags: LinkFlags) =>
      withSession(terminal, async session => {
        const object = await linkObject(session, await link(session, id, purposeOf(flags)));
        printObject(terminal, flags, object, LINK_SHOWN_ONCE);
      }),
    );

  addVerb(noun, 'sign-out', `end all sessions of whoever signs in as a ${subject}`)
    .argument('<id>', `${subject} ID`, parseId)
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        const personId = await findPerson(session, id);
        if (personId == null) throw new OperationRefused(`Nobody signs in as ${subject} ${id}.`);
        const ended = await audited(session, `${subject}.sign-out`, async tx => {
          const result = await deleteSessionsOf(tx, personId, null);
          return { result, objectId: id, detail: { sessions: result } };
        });
        printObject(terminal, flags, { id, sessionsEnded: ended });
      }),
    );
}

function purposeOf({ password, factors }: LinkFlags): Renewal {
  if (password === factors) return 'both';
  return password === true ? 'password' : 'factors';
}

/**
 * A link as it is printed.
 * @throws OperationRefused where the service has no panel.
 */
export async function linkObject({ config }: Session, { token, expiresAt }: NewLink) {
  return { link: `${await findPanel(config)}${JOIN_PATH}/${token}`, linkExpiresAt: expiresAt };
}

/** @throws OperationRefused on a database of one's own, where there is no demo. */
export async function newDemoLink(session: Session) {
  const { config } = session;
  const path =
    config.databaseUrl === null && config.environment !== 'production'
      ? await makeDemoLink(config.dataDirectory, session)
      : undefined;
  if (path === undefined) throw new OperationRefused('There is no demo here.');
  return { link: (await findPanel(config)) + path };
}

/** Base URL of the panel. */
async function findPanel({ databaseUrl, dataDirectory, panelUrl }: Config): Promise<string> {
  if (panelUrl === null) {
    throw new OperationRefused('There is no panel: set PANEL_URL to where people reach it.');
  }
  // On this machine the service may have been started on another port than this command knows.
  const isHere = databaseUrl === null && new URL(panelUrl).hostname === '127.0.0.1';
  return (isHere ? await findService(dataDirectory) : undefined) ?? panelUrl;
}
