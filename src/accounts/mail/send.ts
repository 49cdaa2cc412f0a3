import type { MailSettings } from '#config/mail-settings.ts';

/** A mail as it is submitted to the server. */
export interface OutgoingMail {
  /** The mail's ID, by which a server recognises a mail that it gets twice. */
  readonly id: string;
  readonly to: { readonly name: string; readonly email: string };
  readonly subject: string;
  readonly text: string;
}

/** Submits a mail. @throws MailRefused */
export type SendMail = (mail: OutgoingMail, signal: AbortSignal) => Promise<void>;

/** The server did not accept a mail. Holds none of the server's text, which may repeat addresses. */
export class MailRefused extends Error {
  /** The kind of failure, and the server's reply code if it gave one. */
  readonly code: string;
  readonly responseCode: number | null;

  constructor(code: string, responseCode: number | null) {
    super(`the mail was not taken: ${code}${responseCode === null ? '' : ` ${responseCode}`}`);
    this.name = 'MailRefused';
    this.code = code;
    this.responseCode = responseCode;
  }
}

/** Timeout of the DNS lookup, of connecting and of the greeting, each, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Timeout of the reply to a command, in milliseconds: some servers inspect mail before they reply. */
const REPLY_TIMEOUT_MS = 120_000;
/** Timeout of the whole submission, in milliseconds. */
export const SEND_TIMEOUT_MS = 180_000;

/** Opens a server for outgoing mail. Each mail uses a connection of its own, since there are few. */
export async function openMailServer({ server, from }: MailSettings): Promise<SendMail> {
  // Loaded on demand: a worker that sends no mail does without it.
  const { createTransport } = await import('nodemailer');
  const { host, port, tls, credentials } = server;
  const transport = createTransport({
    host,
    port,
    secure: tls === 'implicit',
    ...(tls === 'none' ? { ignoreTLS: true } : {}),
    ...(tls === 'starttls' ? { requireTLS: true } : {}),
    ...(credentials === null
      ? {}
      : { auth: { user: credentials.user, pass: credentials.password } }),
    dnsTimeout: CONNECT_TIMEOUT_MS,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: REPLY_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const [, domain = ''] = from.address.split('@');
  return async ({ id, to, subject, text }, signal) => {
    try {
      await transport.sendMail({
        from,
        to: { name: to.name, address: to.email },
        subject,
        text,
        messageId: `<${id}@${domain}>`,
        // RFC 3834: no automatic reply, such as a holiday notice, is sent to it.
        headers: { 'Auto-Submitted': 'auto-generated' },
        signal: AbortSignal.any([signal, AbortSignal.timeout(SEND_TIMEOUT_MS)]),
      });
    } catch (error) {
      const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
      throw new MailRefused(
        typeof code === 'string' ? code : 'unknown',
        typeof responseCode === 'number' ? responseCode : null,
      );
    }
  };
}
