import { randomBytes } from 'node:crypto';
import { TEST_ID_PREFIX, testPayment } from '#signing/vectors/test-payment.ts';
import { type WebhookVector, webhookVectors } from '#signing/vectors/webhooks.ts';
import { CommandFailed, type Terminal } from '../terminal.ts';
import type { Judged } from './conformance-judge.ts';
import { createSigner, parseReceiver, post } from './forward.ts';

/** Bytes of a UUID after its last hyphen. */
const NODE_BYTES = 6;

/**
 * Sends every example to a receiver of webhooks, a genuine one twice, and judges its statuses.
 * @throws CommandFailed for an invalid URL or secret, after Ctrl-C, and when nothing answers at first.
 */
export async function* judgeReceiver(
  text: string,
  { env, untilInterrupted }: Terminal,
): AsyncGenerator<Judged, void, undefined> {
  const url = parseReceiver(text);
  if (!env.WEBHOOK_SECRET) {
    throw new CommandFailed(
      'WEBHOOK_SECRET must be set: the secret that the receiver verifies with.',
    );
  }
  const { secret } = createSigner(env.WEBHOOK_SECRET);
  const signal = untilInterrupted?.() ?? new AbortController().signal;
  let hasAnswered = false;
  for (const { name, given, expected, mistake } of examplesFor(secret)) {
    const { statusCode, error } = await post(url, given.headers, given.body, signal).catch(
      error => {
        throw signal.aborted ? new CommandFailed('Interrupted.') : error;
      },
    );
    if (statusCode === null) {
      if (!hasAnswered) throw new CommandFailed(`${url.href} gives no answer: ${error}.`);
      yield { name, mistakes: [`The receiver gives no answer: ${error}.`] };
      continue;
    }
    hasAnswered = true;
    const isTaken = statusCode >= 200 && statusCode <= 299;
    const wrong = `The receiver ${describe(statusCode, mistake)} (HTTP ${statusCode}).`;
    yield { name, mistakes: isTaken === expected.valid ? [] : [wrong] };
  }
}

/** @param mistake What taking or refusing the example means. */
function describe(statusCode: number, mistake: string): string {
  if (statusCode >= 500) return 'fails';
  return statusCode >= 300 && statusCode <= 399
    ? 'redirects, which the service does not follow'
    : mistake;
}

/** The examples of webhooks for a receiver with its own clock and secret, each made when it is asked for. */
function* examplesFor(secret: string): Generator<WebhookVector, void, undefined> {
  for (const [index, { given, expected }] of examplesAt(0, secret).entries()) {
    const age = given.now;
    // The exact limit depends on the receiver's clock, and only the receiver knows a second secret of its own.
    if (given.secrets.length > 1 || (expected.valid && age !== 0)) continue;
    // Far enough beyond the limit for a clock that differs.
    const vector = examplesAt(Math.floor(Date.now() / 1000) - 2 * age, secret)[index];
    if (vector === undefined) continue;
    yield vector;
    if (index > 0) continue;
    const mistake =
      'refuses a webhook that it has had: answer 2xx, since it may come twice, and act once on each ID';
    yield { ...vector, name: 'the same webhook again', mistake };
  }
}

/** @param timestamp Unix seconds at which they are signed. */
function examplesAt(timestamp: number, secret: string): readonly WebhookVector[] {
  const now = new Date();
  const id = TEST_ID_PREFIX + randomBytes(NODE_BYTES).toString('hex');
  const event = { id, object: 'event', type: 'payment_prompt.created', createdAt: now };
  const body = JSON.stringify({ ...event, data: testPayment(now) });
  return webhookVectors({ secret, id, timestamp, body });
}
