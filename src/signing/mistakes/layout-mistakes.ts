import { type Attempt, type CanonicalPart, RIGHT_ORDER } from './attempt.ts';
import type { Mistake } from './mistake.ts';

const REMEDY =
  'Join timestamp, nonce, method, path and body, in this order, by single line feeds, with none after the body.';
const WITHOUT_NONCE = RIGHT_ORDER.filter(part => part !== 'nonce');

type Named = readonly [made: string, change: Partial<Attempt>, alone?: boolean];

const LAYOUTS: readonly Named[] = [
  ['the parts joined without line feeds', { separator: '' }],
  ['the parts joined by "\\r\\n"', { separator: '\r\n' }],
  ['the parts joined by a backslash and an "n" in place of a line feed', { separator: '\\n' }],
  ['a line feed after the body', { end: '\n' }],
  ['"\\r\\n" after each part', { separator: '\r\n', end: '\r\n' }, true],
  ['the parts joined without line feeds and without the nonce', joined('', WITHOUT_NONCE)],
  ...[' ', '.', ':', ',', '|', '&', '/'].map(
    separator => [`the parts joined by "${separator}"`, { separator }, true] as const,
  ),
  [
    'nonce and timestamp the wrong way round',
    { order: ['nonce', 'timestamp', 'method', 'target', 'body'] },
  ],
  [
    'method and path before timestamp and nonce',
    { order: ['method', 'target', 'timestamp', 'nonce', 'body'] },
  ],
  [
    'timestamp and nonce after the body',
    { order: ['method', 'target', 'body', 'timestamp', 'nonce'] },
    true,
  ],
];

/** The right parts, put together in another way. */
export function* layoutMistakes(): Generator<Mistake> {
  for (const [made, change, alone = false] of LAYOUTS) {
    yield { component: 'layout', made, remedy: REMEDY, change, alone };
  }
}

function joined(separator: string, order: readonly CanonicalPart[]): Partial<Attempt> {
  return { separator, order };
}
