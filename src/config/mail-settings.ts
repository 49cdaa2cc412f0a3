import type { EnvironmentReader } from './environment-reader.ts';
import { LOOPBACK, parseUrl } from './values.ts';

/** Where mail is handed in, and whom it comes from. */
export interface MailSettings {
  readonly server: MailServer;
  readonly from: MailSender;
  /** Base URL of the panel, to which it leads. */
  readonly panelUrl: string;
}

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** `implicit` from the first byte (smtps:), `starttls` always, `none` for smtp: on loopback alone. */
  readonly tls: 'implicit' | 'starttls' | 'none';
  /** null for a server that asks for none. */
  readonly credentials: { readonly user: string; readonly password: string } | null;
}

export interface MailSender {
  /** Empty for none. */
  readonly name: string;
  readonly address: string;
}

/** Ports of message submission (RFC 8314, 7.3). */
const PORTS = { 'smtps:': 465, 'smtp:': 587 } as const;

/**
 * null sends no mail: without SMTP_URL. Where something else is missing, `findConflicts` reports the problem.
 * @param panelUrl null for no panel.
 */
export function readMail(from: EnvironmentReader, panelUrl: string | null): MailSettings | null {
  const server = from.read<MailServer | null>('SMTP_URL', null, {
    expected:
      'an smtps:// or smtp:// URL without path or query, with special characters of a password percent-encoded',
    parse: parseSmtpUrl,
    secret: true,
  });
  const sender = from.read<MailSender | null>('MAIL_FROM', null, {
    expected: 'an e-mail address, or a name and one: Payments <payments@example.com>',
    parse: parseSender,
  });
  if (server === null || sender === null || panelUrl === null) return null;
  return { server, from: sender, panelUrl };
}

/**
 * A server for outgoing mail. smtp: takes STARTTLS, and does without it on loopback alone: links for new passwords
 * must not be read on the way.
 * @returns undefined for what is no such URL.
 */
function parseSmtpUrl(text: string): MailServer | undefined {
  if (parseUrl(text, Object.keys(PORTS)) === undefined || /[?#]/.test(text)) return undefined;
  const { protocol, hostname, port, pathname, username, password } = new URL(text);
  if (hostname === '' || !['', '/'].includes(pathname)) return undefined;
  if ((username === '') !== (password === '')) return undefined;
  const [user, secret] = [decode(username), decode(password)];
  if (user === undefined || secret === undefined) return undefined;
  const isLoopback = LOOPBACK.includes(hostname);
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? PORTS[protocol as keyof typeof PORTS] : Number(port),
    tls: protocol === 'smtps:' ? 'implicit' : isLoopback ? 'none' : 'starttls',
    credentials: user === '' ? null : { user, password: secret },
  };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const ADDRESS = /^[^\s@<>"(),:;[\]\\]{1,64}@[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i;
const SENDER = /^(?:(?<name>[^<>"\p{Cc}]*?)\s*<(?<inBrackets>[^<>]+)>|(?<alone>[^<>]+))$/u;

/** An address with or without a name before it; undefined for anything else. */
function parseSender(text: string): MailSender | undefined {
  const { name = '', inBrackets, alone } = SENDER.exec(text.trim())?.groups ?? {};
  const address = inBrackets ?? alone ?? '';
  return ADDRESS.test(address) ? { name, address } : undefined;
}
