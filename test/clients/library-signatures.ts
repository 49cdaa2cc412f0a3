import { expect, test } from 'vitest';
import { SIGNING_VECTORS, type WebhookVector } from '#signing/vectors/index.ts';
import { webhookHeaders } from '#signing/webhooks.ts';
import type { Library } from './library.ts';

/** A genuine webhook. */
export const WEBHOOK = genuineWebhook();

function genuineWebhook(): WebhookVector['given'] {
  const found = SIGNING_VECTORS.webhooks.find(({ expected }) => expected.valid);
  if (found === undefined) throw new Error('there is no example');
  return found.given;
}

/** What a library signs and verifies, without a server. */
export function describeSignatures(library: Library): void {
  test('signs every example as the service does', async () => {
    for (const { name, given, expected } of SIGNING_VECTORS.requests) {
      expect([name, await library.driver.ask(given)]).toEqual([
        name,
        { headers: expected.headers },
      ]);
    }
  });

  test('verifies every example of a webhook, and names what is wrong', async () => {
    for (const { name, given, expected } of SIGNING_VECTORS.webhooks) {
      expect([name, await library.driver.ask(given)]).toMatchObject([name, expected]);
    }
  });

  test('accepts no empty secret, with which anybody could sign', async () => {
    for (const secrets of [[], [''], ['whsec_'], ['whsec_not base64!'], ['mps_0123456789abcde!']]) {
      const answer = await library.driver.ask({ ...WEBHOOK, secrets });
      expect([secrets, answer]).toEqual([secrets, { valid: false, failure: 'secret' }]);
    }
  });

  test('reports the body as wrong for a signed webhook that is no JSON', async () => {
    const message = { id: 'e', timestamp: String(WEBHOOK.now), body: '{"id":' };
    const headers = webhookHeaders(WEBHOOK.secrets, message);
    const answer = await library.driver.ask({ ...WEBHOOK, body: message.body, headers });
    expect(answer).toEqual({ valid: false, failure: 'body' });
  });

  test('shows no secret when an object with one is printed', async () => {
    const { secrets } = WEBHOOK;
    const key = { keyId: 'mpk_1', secret: `mps_${'5e'.repeat(32)}`, passphrase: 'not-for-logs' };
    const given = { kind: 'print', url: 'https://pay.example.test', ...key, secrets };
    const { printed } = await library.driver.ask<{ printed: string }>(given);
    expect(printed).toContain(key.keyId);
    for (const hidden of [key.secret, key.passphrase, ...secrets]) {
      expect(printed).not.toContain(hidden);
      // Go prints bytes as numbers.
      expect(printed).not.toContain([...Buffer.from(hidden)].slice(0, 8).join(' '));
    }
  });
}
