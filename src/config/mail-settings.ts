import type { EnvironmentReader } from './environment-reader.ts';
import { LOOPBACK, parseUrl } from './values.ts';

/** The SMTP server that takes mail, and the sender. */
export interface MailSettings {
  readonly server: MailServer;
  readonly from: MailSender;
  /** Base URL of the panel, for links in mail. */
  readonly panelUrl: string;
}

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** `implicit`: TLS from the first byte (smtps:). `starttls`: required. `none`: smtp: on loopback only. */
  readonly tls: 'implicit' | 'starttls' | 'none';
  /** null for a server that requires none. */
  readonly credentials: { readonly user: string; readonly password: string } | null;
}

interface MailSender {
  /** Empty for none. */
  readonly name: string;
  readonly address: string;
}

/** Ports of message submission (RFC 8314, 7.3). */
const PORTS = { 'smtps:': 465, 'smtp:': 587 } as const;

/**
 * Reads the mail settings; null, which sends no mail, without SMTP_URL. If another setting is missing,
 * `findConflicts` reports it.
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
 * Parses the URL of an SMTP server. smtp: requires STARTTLS except on loopback: nobody on the network may read the
 * links for new passwords.
 * @returns undefined for any other text.
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
