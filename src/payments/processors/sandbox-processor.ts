import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Keyring } from '#crypto/keyring.ts';
import { newId } from '#crypto/new-id.ts';
import { randomToken } from '#crypto/random-hex.ts';
import {
  NOTIFICATION_TOLERANCE_SECONDS,
  NotificationRefused,
  type Processor,
  type ProcessorNotification,
} from '../processor.ts';

interface SignedNotification {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A processor that collects no money, for development and tests; this service hosts its page. */
export interface SandboxProcessor extends Processor {
  readonly name: 'sandbox';
  /** ID of the session that a page's token belongs to. */
  externalIdOf(token: string): string;
  /**
   * Creates and signs a notification.
   * @param now Milliseconds since the epoch.
   */
  notify(
    notification: Omit<ProcessorNotification, 'notificationId'>,
    now: number,
  ): SignedNotification;
}

const SIGNATURE_HEADER = 'sandbox-signature';
const SIGNATURE = /^t=(\d{1,15}),v1=([0-9a-f]{64})$/;
const TOKEN_BYTES = 32;
const EXTERNAL_ID_BYTES = 16;
const KINDS: readonly string[] = ['seen', 'settled', 'failed', 'cancelled', 'expired'];

/**
 * The sandbox is stateless: a session's external ID is a digest of its page's token. So a page
 * works after a restart and on any replica, and events can show the external ID without revealing
 * the page.
 * @param publicUrl Base URL of the pages.
 */
export function createSandboxProcessor(keyring: Keyring, publicUrl: string): SandboxProcessor {
  const key = keyring.hash('notifications', 'sandbox processor');
  const sign = (seconds: number, body: Buffer) =>
    createHmac('sha256', key).update(`${seconds}.`).update(body).digest();

  return {
    name: 'sandbox',
    async createSession() {
      const token = randomToken(TOKEN_BYTES);
      return { url: `${publicUrl}/processor/sandbox/${token}`, externalId: externalIdOf(token) };
    },
    externalIdOf,
    async readSession() {
      // The page sends a notification for every button, so there is never anything to catch up on.
      return null;
    },
    notify(notification, now) {
      const body = Buffer.from(JSON.stringify({ notificationId: newId(), ...notification }));
      const seconds = Math.floor(now / 1000);
      const signature = `t=${seconds},v1=${sign(seconds, body).toString('hex')}`;
      return { headers: { [SIGNATURE_HEADER]: signature }, body };
    },
    readNotification(headers, body, now) {
      const [, time = '', digest = ''] = SIGNATURE.exec(String(headers[SIGNATURE_HEADER])) ?? [];
      const seconds = Number(time);
      if (digest === '' || !timingSafeEqual(Buffer.from(digest, 'hex'), sign(seconds, body))) {
        throw new NotificationRefused('the Sandbox-Signature header does not hold');
      }
      if (now / 1000 - seconds > NOTIFICATION_TOLERANCE_SECONDS) {
        throw new NotificationRefused('the notification is too old');
      }
      const notification: unknown = JSON.parse(body.toString());
      if (!isNotification(notification)) {
        throw new NotificationRefused('the notification is not one of ours');
      }
      return notification;
    },
  };
}

function externalIdOf(token: string): string {
  const digest = createHash('sha256').update(token).digest();
  return `sandbox_${digest.subarray(0, EXTERNAL_ID_BYTES).toString('hex')}`;
}

/** Even a signed notification may have another shape: another release may have written it. */
function isNotification(value: unknown): value is ProcessorNotification {
  if (typeof value !== 'object' || value === null) return false;
  const { externalId, kind } = value as Record<string, unknown>;
  return typeof externalId === 'string' && typeof kind === 'string' && KINDS.includes(kind);
}
