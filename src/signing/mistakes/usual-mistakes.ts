import type { SignedParts } from '../canonical.ts';
import type { Attempt, MismatchHints, Mistake, Named } from './mistake.ts';
import { otherBodies } from './other-bodies.ts';
import { OTHER_DIGESTS, otherKeys } from './other-keys.ts';
import { otherPaths, otherQueries, prefixedPaths } from './other-targets.ts';

type Row = readonly [
  component: keyof ReturnType<typeof remediesFor>,
  made: string,
  change: Partial<Attempt>,
  /** Used instead of the component's remedy. */
  remedy?: string,
];

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];
const SEPARATORS = [' ', '.', ':', ',', '|', '&', '/'];
/** Differences in seconds that are tried, for code that reads the clock twice for one request. */
const APART_SECONDS = [-1, 1, -2, 2];

/** The mistakes that are looked for, in the order in which they are tried. */
export function usualMistakes(
  secret: string,
  sent: SignedParts,
  hints: MismatchHints,
): readonly Mistake[] {
  const { timestamp: t, nonce: n, method: m, path: p, body: b } = sent;
  const [path = ''] = p.split('?', 1);
  const query = p.slice(path.length);
  const right = [t, n, m, p, b];
  const withTimestamp = ([made, text]: Named<string>): Row => {
    return ['timestamp', made, { parts: [text, n, m, p, b] }];
  };
  const rows: Row[] = [
    [
      'timestamp',
      'no timestamp',
      { parts: [n, m, p, b] },
      'Sign X-MP-TIMESTAMP as the first part.',
    ],
    ...otherTimestamps(t).map(withTimestamp),
    ['nonce', 'no nonce', { parts: [t, m, p, b] }],
    ['nonce', 'the nonce in lower case', { parts: [t, n.toLowerCase(), m, p, b] }],
    ['nonce', 'the nonce in upper case', { parts: [t, n.toUpperCase(), m, p, b] }],
    ['nonce', 'the nonce without its hyphens', { parts: [t, n.replaceAll('-', ''), m, p, b] }],
    [
      'nonce',
      'neither timestamp nor nonce',
      { parts: [m, p, b] },
      'Sign X-MP-TIMESTAMP and X-MP-NONCE as the first two parts.',
    ],
    ...[m.toLowerCase(), ...METHODS].map(
      (name): Row => ['method', `the method "${name}"`, { parts: [t, n, name, p, b] }],
    ),
    ...prefixedPaths(path, hints).map(
      ([made, text]): Row => [
        'path',
        made,
        { parts: [t, n, m, text + query, b] },
        `Sign it without the prefix, which the proxy removes: ${JSON.stringify(p)}.`,
      ],
    ),
    ...otherPaths(path, hints).map(
      ([made, text]): Row => ['path', made, { parts: [t, n, m, text + query, b] }],
    ),
    ...otherQueries(query).map(
      ([made, text]): Row => ['query', made, { parts: [t, n, m, path + text, b] }],
    ),
    ...otherBodies(b).map(([made, body]): Row => ['body', made, { parts: [t, n, m, p, body] }]),
    b.length > 0
      ? ['body', 'neither the body nor a line feed before it', { parts: [t, n, m, p] }]
      : [
          'body',
          'no line feed after the path',
          { parts: [t, n, m, p] },
          'End the canonical request with the line feed that follows the path, also without a body.',
        ],
    ['layout', 'the parts joined without line feeds', { separator: '' }],
    ['layout', 'the parts joined by "\\r\\n"', { separator: '\r\n' }],
    [
      'layout',
      'the parts joined by a backslash and an "n" in place of a line feed',
      { separator: '\\n' },
    ],
    // An empty part at the end puts a separator after the body.
    ['layout', 'a line feed after the body', { parts: [t, n, m, p, b, ''] }],
    ['layout', '"\\r\\n" after each part', { parts: [t, n, m, p, b, ''], separator: '\r\n' }],
    ...SEPARATORS.map(
      (separator): Row => ['layout', `the parts joined by "${separator}"`, { separator }],
    ),
    ['layout', 'nonce and timestamp the wrong way round', { parts: [n, t, m, p, b] }],
    ['layout', 'method and path before timestamp and nonce', { parts: [m, p, t, n, b] }],
    ['layout', 'timestamp and nonce after the body', { parts: [m, p, b, t, n] }],
    ...morePartsOf(hints).flatMap(([made, part]) =>
      [0, 1, 2, 3, 4, 5].map(
        (place): Row => ['layout', made, { parts: right.toSpliced(place, 0, part) }],
      ),
    ),
    ...otherKeys(secret, hints).map(([made, key]): Row => ['secret', made, { key }]),
    ...OTHER_DIGESTS.map(([made, digest]): Row => ['algorithm', made, { digest }]),
    ...millisecondsOf(t).map(withTimestamp),
  ];
  const remedies = remediesFor(sent);
  return rows.map(([component, made, change, remedy = remedies[component]]) => {
    return { component, made, remedy, change };
  });
}

/** Values that other schemes sign as a part of its own. */
function morePartsOf({ keyId, passphrase, host }: MismatchHints): Named<string>[] {
  const parts: Named<string | undefined>[] = [
    ['the key ID among the parts', keyId],
    ['the passphrase among the parts', passphrase],
    ['the host among the parts', host],
  ];
  return parts.flatMap(([made, part]) => (part ? [[made, part] as const] : []));
}

function otherTimestamps(sent: string): Named<string>[] {
  const seconds = Number(sent);
  const time = new Date(seconds * 1000);
  const date = Number.isNaN(time.getTime()) ? sent : time.toISOString();
  return [
    ['the timestamp in milliseconds', `${sent}000`],
    ['the timestamp with a fraction', `${sent}.0`],
    ['the timestamp as a date', date],
    ['the timestamp as a date', date.replace('.000', '')],
    ...APART_SECONDS.map((apart): Named<string> => {
      const text = String(seconds + apart);
      return [`another timestamp than the one sent, "${text}"`, text];
    }),
  ];
}

/** Timestamps in milliseconds, for code that cuts them to seconds after signing. Tried last, since there are many. */
function millisecondsOf(sent: string): Named<string>[] {
  return Array.from({ length: 999 }, (_, index) => {
    return ['the timestamp in milliseconds', sent + String(index + 1).padStart(3, '0')];
  });
}

/** Values of the request are quoted, so that every character is visible. */
function remediesFor({ timestamp, nonce, method, path, body }: SignedParts) {
  const signTarget = `Sign path and query exactly as they are sent: ${JSON.stringify(path)}.`;
  return {
    timestamp: `Sign the text that X-MP-TIMESTAMP carries: ${JSON.stringify(timestamp)}.`,
    nonce: `Sign the text that X-MP-NONCE carries: ${JSON.stringify(nonce)}.`,
    method: `Sign the method that is sent, in upper case: ${JSON.stringify(method)}.`,
    path: signTarget,
    query: signTarget,
    body:
      body.length === 0
        ? 'Sign nothing after the line feed that follows the path: no body was received.'
        : `Sign the ${body.length} bytes that are sent, and send the text that was signed.`,
    layout:
      'Join timestamp, nonce, method, path and body, in this order, by single line feeds, with none after the body.',
    secret: 'Use the whole secret that came with the passphrase, "mps_" included, as UTF-8 text.',
    algorithm:
      'Use HMAC-SHA256 with the secret as its key and the canonical request as its message.',
  };
}
