import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { type Config, readConfig } from '#config/config.ts';
import { writeMail } from '#surfaces/panel/mails.ts';
import { sendMailLoop } from '#worker/send-mail.ts';
import type { TestApp } from './app.ts';

/** A mail as the server received it. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly subject: string;
  readonly text: string;
  readonly secure: boolean;
  /** The user who authenticated; undefined without authentication. */
  readonly user: string | undefined;
}

export interface MailServer {
  readonly mails: readonly ReceivedMail[];
  /** Mails that arrived for an address. */
  to(address: string): ReceivedMail[];
  readonly port: number;
  close(): Promise<void>;
}

/** A real SMTP server on loopback, without TLS unless the options say otherwise. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    onData(stream, session, done) {
      text(stream).then(raw => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          ...parse(raw),
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          secure: session.secure,
          user: session.user === undefined ? undefined : String(session.user),
        });
        done();
      }, done);
    },
    ...options,
  });
  server.on('error', () => undefined);
  const { server: socket } = server;
  server.listen(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    mails,
    to: address => mails.filter(({ to }) => to.includes(address)),
    port: (socket.address() as AddressInfo).port,
    close: () => new Promise(done => void server.close(() => done())),
  };
}

/** Environment variables of a service that sends mail to a loopback port. */
export function mailEnv(port: number) {
  const MAIL_FROM = 'Blue Payments <payments@example.com>';
  return { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM };
}

/** Settings of a service that sends mail to a loopback port. */
export function mailSettings(port: number, url = `smtp://127.0.0.1:${port}`) {
  const { mail }: Config = readConfig({
    NODE_ENV: 'test',
    ...mailEnv(port),
    SMTP_URL: url,
    PANEL_URL: 'https://pay.example.test',
  });
  if (mail === null) throw new Error('no mail is sent');
  return mail;
}

/** Lets a worker send the mails that are due, once, to a loopback port. */
export async function sendDueMail(
  { db, clock, keyring, logs }: Pick<TestApp, 'db' | 'clock' | 'keyring' | 'logs'>,
  port: number,
  url?: string,
): Promise<void> {
  const logger = { warn: (line: object) => void logs.push({ ...line }) };
  const loop = sendMailLoop({
    db,
    clock,
    keyring,
    logger,
    writeMail,
    mail: mailSettings(port, url),
  });
  await loop.run(new AbortController().signal, () => undefined);
}

function parse(raw: string): Pick<ReceivedMail, 'headers' | 'subject' | 'text'> {
  const [head = '', ...body] = raw.split('\r\n\r\n');
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  const headers = Object.fromEntries(
    lines.map(line => {
      const [name = '', ...value] = line.split(': ');
      return [name.toLowerCase(), value.join(': ')];
    }),
  );
  const content = decode(headers['content-transfer-encoding'] ?? '', body.join('\r\n\r\n'));
  return {
    headers,
    subject: decodeWords(headers.subject ?? ''),
    text: content.replaceAll('\r\n', '\n'),
  };
}

function decode(encoding: string, body: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString();
  return encoding === 'quoted-printable' ? unquote(body.replaceAll('=\r\n', '')) : body;
}

function unquote(quoted: string): string {
  const bytes = quoted.replaceAll(/=([0-9A-F]{2})/g, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString();
}

/** RFC 2047. */
function decodeWords(header: string): string {
  return header.replaceAll(/=\?UTF-8\?([QB])\?([^?]*)\?=(?: (?==\?))?/gi, (_, encoding, word) =>
    encoding.toUpperCase() === 'B'
      ? Buffer.from(word, 'base64').toString()
      : unquote(word.replaceAll('_', ' ')),
  );
}
