import { describeMismatch } from '#signing/describe-mismatch.ts';
import { explainMismatch } from '#signing/explain-mismatch.ts';
import type { RequestVector, WebhookVector } from '#signing/vectors/index.ts';

/** What a command printed for an example. */
export type Document = Readonly<Record<string, unknown>>;

/** What became of one example. */
export interface Judged {
  readonly name: string;
  /** Empty when it is right. */
  readonly mistakes: readonly string[];
}

const SIGNATURE = 'X-MP-SIGNATURE';

/** What is wrong about the headers of a request, in sentences; empty if nothing is. */
export function judgeRequest({ given, expected }: RequestVector, document: Document): string[] {
  const { headers } = document;
  if (typeof headers !== 'object' || headers === null) {
    return ['The document has no "headers" with the signing headers of the request.'];
  }
  const sent = new Map(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), String(value)]),
  );
  const mistakes = Object.entries(expected.headers)
    .filter(([name, value]) => name !== SIGNATURE && sent.get(name) !== value)
    .map(([name, value]) => describeHeader(name, value, sent.get(name)));
  const signature = sent.get(SIGNATURE);
  if (signature === undefined) return [...mistakes, `The header ${SIGNATURE} is missing.`];

  const explain = (timestamp: string, nonce: string) =>
    explainMismatch(
      given.secret,
      { ...given, timestamp, nonce, body: Buffer.from(given.body) },
      signature,
      given,
    );
  const explanation = explain(String(given.timestamp), given.nonce);
  if (explanation.matches) return mistakes;
  // A wrong time or nonce that is sent as it was signed counts as one mistake, which the headers show.
  const own = explain(sent.get('X-MP-TIMESTAMP') ?? '', sent.get('X-MP-NONCE') ?? '');
  if (own.matches && explanation.findings.length === 0) return mistakes;
  // With a time or nonce of its own, there may be another mistake.
  const found = own.findings.length > 0 ? own : explanation;
  return [...mistakes, describeMismatch(found)];
}

/**
 * What the answers to the same example show together; undefined for nothing. What is signed in place of the given
 * nonce and time cannot be found if it is random, but makes another signature each time.
 */
export function compareAnswers(one: Document, other: Document): string | undefined {
  const [first, second] = [one, other].map(({ headers }) => {
    const sent = Object.entries((headers ?? {}) as Document);
    const isSignature = ([name]: [string, unknown]) => name.toUpperCase() === SIGNATURE;
    return {
      signature: sent.find(isSignature)?.[1],
      rest: JSON.stringify(sent.filter(each => !isSignature(each))),
    };
  });
  if (first?.rest !== second?.rest || first?.signature === second?.signature) return undefined;
  return 'The signature is another one each time that the same is signed: it was made with another nonce or timestamp than the one in the headers.';
}

function describeHeader(name: string, expected: string, sent: string | undefined): string {
  if (sent === undefined) return `The header ${name} is missing.`;
  return `The header ${name} is ${JSON.stringify(sent)} in place of ${JSON.stringify(expected)}.`;
}

/** What the verifier of a webhook does wrong, in a sentence; empty if nothing. */
export function judgeWebhook({ expected, mistake }: WebhookVector, document: Document): string[] {
  if (typeof document.valid !== 'boolean') return ['The document has no "valid", true or false.'];
  return document.valid === expected.valid ? [] : [`The command ${mistake}.`];
}
