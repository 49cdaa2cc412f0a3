import type { SignedParts } from '../canonical.ts';
import { type CanonicalPart, RIGHT_ORDER } from './attempt.ts';
import { type Component, type Mistake, quote } from './mistake.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];
/** How many seconds apart two looks at the clock are taken to lie, when each was taken by itself. */
const APART_SECONDS = [-1, 1, -2, 2];

/** Another timestamp, nonce or method than the one that was sent, or none. */
export function* headerMistakes({ timestamp, nonce, method }: SignedParts): Generator<Mistake> {
  yield* timestampMistakes(timestamp);
  yield* nonceMistakes(nonce);
  yield {
    component: 'nonce',
    made: 'neither timestamp nor nonce',
    remedy: 'Sign X-MP-TIMESTAMP and X-MP-NONCE as the first two parts.',
    change: without('timestamp', 'nonce'),
  };
  for (const signed of [method.toLowerCase(), ...METHODS.filter(name => name !== method)]) {
    yield {
      component: 'method',
      made: `the method ${quote(signed)}`,
      remedy: `Sign the method that is sent, in upper case: ${quote(method)}.`,
      change: { method: signed },
      alone: signed !== method.toLowerCase() && signed !== 'GET' && signed !== 'POST',
    };
  }
}

function* timestampMistakes(sent: string): Generator<Mistake> {
  const signed = (made: string, timestamp: string, alone = true): Mistake => ({
    component: 'timestamp',
    made,
    remedy: `Sign the text that X-MP-TIMESTAMP carries: ${quote(sent)}.`,
    change: { timestamp },
    alone,
  });
  yield {
    component: 'timestamp',
    made: 'no timestamp',
    remedy: 'Sign X-MP-TIMESTAMP as the first part.',
    change: without('timestamp'),
  };
  yield signed('the timestamp in milliseconds', `${sent}000`, false);
  yield signed('the timestamp with a fraction', `${sent}.0`);
  const seconds = Number(sent);
  const date = new Date(seconds * 1000);
  if (!Number.isNaN(date.getTime())) {
    const text = date.toISOString();
    yield signed('the timestamp as a date', text);
    yield signed('the timestamp as a date', text.replace('.000', ''));
  }
  for (const apart of APART_SECONDS) {
    const text = String(seconds + apart);
    yield signed(`another timestamp than the one sent, ${quote(text)}`, text);
  }
}

/**
 * The milliseconds that were left out of the timestamp sent, each of the thousand there are: tried
 * last, being many.
 */
export function* millisecondMistakes({ timestamp }: SignedParts): Generator<Mistake> {
  for (let rest = 1; rest < 1000; rest++) {
    yield {
      component: 'timestamp',
      made: 'the timestamp in milliseconds',
      remedy: `Sign the text that X-MP-TIMESTAMP carries: ${quote(timestamp)}.`,
      change: { timestamp: timestamp + String(rest).padStart(3, '0') },
      alone: true,
    };
  }
}

function* nonceMistakes(sent: string): Generator<Mistake> {
  const remedy = `Sign the text that X-MP-NONCE carries: ${quote(sent)}.`;
  const component: Component = 'nonce';
  yield { component, made: 'no nonce', remedy, change: without('nonce') };
  for (const [made, nonce] of [
    ['the nonce in lower case', sent.toLowerCase()],
    ['the nonce in upper case', sent.toUpperCase()],
    ['the nonce without its hyphens', sent.replaceAll('-', '')],
  ] as const) {
    yield { component, made, remedy, change: { nonce }, alone: true };
  }
}

function without(...parts: CanonicalPart[]): { order: CanonicalPart[] } {
  return { order: RIGHT_ORDER.filter(part => !parts.includes(part)) };
}
