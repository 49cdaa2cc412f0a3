import { expect, vi } from 'vitest';
import { signEvent } from '#payments/webhooks/send-event.ts';
import { testEvent } from '#payments/webhooks/test-event.ts';
import { mpHere } from '../../cli/mp.ts';

/** The longest wait for a server, in milliseconds; only a bug makes it take so long. */
const PATIENCE = { timeout: 40_000 };
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;

/**
 * Expects that a server of the guides, which may still be starting, takes what the service has signed with a secret, and
 * nothing else.
 */
export async function expectVerifies(url: string, secret: string): Promise<void> {
  await vi.waitUntil(() => fetch(url, { method: 'POST' }).catch(() => undefined), PATIENCE);
  // Formatted as no serializer would: only the raw bytes verify.
  const event = { ...testEvent(new Date()), data: '{"id":"p" ,"note": "Grüße"}' };
  const post = async (secrets: string[], more = '') => {
    const { headers, body } = signEvent(event, secrets, new Date());
    const init = { method: 'POST', headers, body: body + more };
    const response = await fetch(url, init);
    await response.arrayBuffer();
    return response.status;
  };
  expect(await post([secret])).toBe(204);
  // As after a rotation: only the second signature is valid.
  expect(await post([OTHER_SECRET, secret])).toBe(204);
  const env = { WEBHOOK_SECRET: secret };
  const { status, out } = await mpHere(['conformance', '--webhook', url], env);
  expect([status, out]).toEqual([0, expect.not.stringContaining('WRONG')]);
  // A client that is still sending may find the connection closed before it reads the response.
  const large = await post([secret], ' '.repeat(2_000_000)).catch(() => 'cut off');
  expect([400, 413, 'cut off']).toContain(large);
  expect(await post([secret])).toBe(204);
}
