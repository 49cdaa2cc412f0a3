import { ERRORS, type ErrorCode } from '#errors/catalogue.ts';
import { counted } from './formats.ts';

const MEANINGS = Object.fromEntries(
  Object.entries(ERRORS).map(([code, { meaning }]) => [code, meaning]),
) as Readonly<Record<ErrorCode, string>>;

/** The request log, and the explanation of signatures. */
export const requests = {
  title: 'Request log',
  lead: 'What failed and what was created with your API keys, without headers and bodies.',
  empty: (kept: 'all' | 'failures' | 'off', days: number, most: string) =>
    kept === 'off'
      ? 'The service keeps no requests: its operator has switched the request log off.'
      : `No request yet. ${kept === 'all' ? 'Every request' : 'Each request that fails, and each creation,'} is kept for ${days} days or more, at most ${most} of an account. It takes a second or two to get here.`,
  noneMatch: 'No request matches.',
  table: 'Requests',
  time: 'Time',
  status: 'Status',
  error: 'Error',
  request: 'Request',
  key: 'Key',
  took: 'Took',
  payment: 'Payment',
  address: 'Address',
  parameter: 'Parameter',
  replayed: 'Replayed',
  replayedText: 'the response kept under its Idempotency-Key',
  id: 'Request ID',
  counted: 'Counted',
  minuteFrom: 'Minute from',
  countedText: (requests: number) =>
    `${counted(requests, 'request')} with this key and error within this minute; this is one of them. Their signature did not hold, so whoever sent them may only know the key's ID.`,
  milliseconds: (value: string) => `${value} ms`,
  times: (value: string) => `× ${value}`,
  signature: 'The signature',
  notExplained: (seconds: number) =>
    `It was not looked into: of each key, one in ${seconds} seconds is. Send the request again, or explain it yourself.`,
  explainThis: 'Explain a signature of this request',
  errorsTitle: (days: number) => `Errors in the last ${days} days`,
  errorsTable: 'Errors',
  meaning: 'Meaning',
  /** By the code of an error. */
  meanings: MEANINGS,
  requestsCount: 'Requests',
  noErrors: 'None.',
  lastTitle: 'Last requests',
  lastEmpty: 'None is kept.',
  more: 'All in the request log',
  explain: {
    title: 'Explain a signature',
    lead: 'Finds the mistake behind a wrong signature (E2007). Nothing that you enter is kept, and no secret or signature is shown.',
    key: 'Key',
    method: 'Method',
    url: 'URL or path with its query',
    urlHint: 'Exactly as it was sent.',
    body: 'Body',
    bodyHint: 'Exactly as it was sent; empty without one.',
    timestamp: 'X-MP-TIMESTAMP',
    nonce: 'X-MP-NONCE',
    signature: 'X-MP-SIGNATURE',
    submit: 'Explain',
    noKey: 'You have no key that works.',
    createKey: 'Create a key',
    busy: 'Many signatures are being explained just now. Try again in a moment.',
    chooseKey: 'Choose a key that is not revoked.',
    badMethod: 'Enter a method, such as GET or POST.',
    badUrl: 'Enter a path with its query, such as /external/v1/payments, or a URL.',
    result: 'Result',
    matches: 'The signature matches.',
    matchesMore: (seconds: number) =>
      `Signed like this, a request is taken if its timestamp is within ${seconds} seconds of the time and its nonce is new.`,
    unreadable:
      'The signature is no digest. Send X-MP-SIGNATURE as 64 lowercase hex digits and nothing else.',
    madeWith: (made: string) => `It was made with ${made}.`,
    notFound: 'The signature does not match, and none of the usual mistakes explains it.',
    tried: 'What was tried, one at a time:',
    compare:
      'Compare what you sign with what you send, byte for byte, and the secret with the one that came with the passphrase.',
  },
};
