import { STATUS_CODES } from 'node:http';
import type { Config } from '#config/config.ts';
import { ERROR_CODES, ERRORS, type ErrorCode, exampleOf } from '#errors/catalogue.ts';
import { type LinkedSetting, settingLink } from '../panel/accounts.ts';
import { exampleEnvelope } from './openapi/errors.ts';
import { block, code, errorLink, table } from './write-markdown.ts';

/** The guide to each group of codes. */
const GUIDES = [
  [/^E20/, '[Signing requests](/docs/signing#when-it-is-refused)'],
  [/^E101/, '[Checkout and redirects](/docs/checkout#returning-to-your-site)'],
  [/^E1020/, '[Checkout and redirects](/docs/checkout#networks)'],
  [/^E2101/, '[Scopes](/docs/signing#scopes)'],
  [/^E2102/, '[US accounts](/docs/us-accounts)'],
  [/^E2103/, '[Partner API](/docs/partners)'],
  [/^E3001/, '[Lists and paging](/docs/paging)'],
  [/^E[459]/, '[Idempotency and retries](/docs/idempotency)'],
] as const;

/**
 * Settings that fix an error: where each is in the panel, what to do there, and the operator's command that does the
 * same.
 */
export const CURES: Partial<Record<ErrorCode, Cure>> = {
  E1010: {
    setting: 'domains',
    text: 'Add the domain under Settings, Domains',
    command: 'mp domain add --merchant ID --domain shop.example.com',
  },
  E1012: {
    setting: 'domains',
    text: 'Add the hostname under Settings, Domains',
    command: 'mp domain add --merchant ID --domain shop.example.com',
  },
  E1020: {
    setting: 'addresses',
    text: 'Set a deposit address under Settings, Addresses',
    command: 'mp address set --merchant ID --blockchain btc --address ADDRESS',
  },
  E1030: {
    setting: 'branches',
    text: 'Add a main branch under Settings, Branches',
    command: 'mp branch create --merchant ID --name Main --main',
  },
  E2004: {
    setting: 'keys',
    text: 'Look at your keys, or create one, under Developer, API keys',
    command: 'mp key create --merchant ID --name NAME',
  },
  E2005: {
    setting: 'keys',
    text: 'Create a key under Developer, API keys',
    command: 'mp key create --merchant ID --name NAME',
  },
  E2006: {
    setting: 'keys',
    text: 'Create a key under Developer, API keys',
    command: 'mp key create --merchant ID --name NAME',
  },
  E2008: {
    setting: 'business',
    text: 'See whether the account is active under Settings, Business',
    command: 'mp merchant set ID --status active',
  },
  E2101: {
    setting: 'keys',
    text: 'Create a key with the scope under Developer, API keys',
    command: 'mp key create --merchant ID --name NAME --scopes SCOPE',
  },
  E2102: {
    setting: 'business',
    text: 'See how far onboarding is under Settings, Business',
    command: 'mp merchant set ID --onboarding approved',
  },
  E2103: {
    setting: 'self-service',
    text: "An owner of the partner switches its merchants' keys on",
    command: 'mp partner set ID --self-service on',
  },
};

interface Cure {
  readonly setting: LinkedSetting;
  /** Says what to do there. */
  readonly text: string;
  readonly command: string;
}

function cureMarkdown(
  errorCode: ErrorCode,
  { publicUrl, panelUrl }: Pick<Config, 'publicUrl' | 'panelUrl'>,
): string {
  const cure = CURES[errorCode];
  if (cure === undefined) return '';
  const { setting, text, command } = cure;
  const base = panelUrl === publicUrl ? '' : panelUrl;
  const panel = base === null ? '' : `- In the panel: [${text}](${base}${settingLink(setting)}).\n`;
  return `\n${panel}- Your operator does the same with ${code(command)}.\n`;
}

export function errorTitle(errorCode: ErrorCode): string {
  return `${errorCode} ${ERRORS[errorCode].code}`;
}

/** The page of one error, without the meaning at its top. */
export function errorMarkdown(
  errorCode: ErrorCode,
  place: Pick<Config, 'publicUrl' | 'panelUrl'>,
): string {
  const { status, type, retry, why, remedy } = ERRORS[errorCode];
  const guide = GUIDES.find(([codes]) => codes.test(errorCode));
  return `${table(
    ['field', 'value'],
    [
      ['HTTP status', `${status} ${STATUS_CODES[status]}`],
      ['type', code(type)],
      ['code', code(ERRORS[errorCode].code)],
      ['errorCode', code(errorCode)],
      ['Retry', retry ? 'Yes, with a fresh nonce, timestamp and signature.' : 'No, not unchanged.'],
    ],
  )}

## Why it happens

${why.map(cause => `- ${cause}`).join('\n')}

## What to do

${remedy}
${cureMarkdown(errorCode, place)}${guide === undefined ? '' : `\nSee also: ${guide[1]}.\n`}
## Example

${block('http', exampleResponse(errorCode, place.publicUrl))}

[All errors](/docs/errors)`;
}

function exampleResponse(errorCode: ErrorCode, publicUrl: string): string {
  const { status, retry } = ERRORS[errorCode];
  const { retryAfterSeconds } = exampleOf(errorCode);
  const envelope = exampleEnvelope(errorCode, publicUrl);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `X-Request-Id: ${envelope.error.requestId}`,
    `X-MP-Should-Retry: ${retry}`,
    ...(retryAfterSeconds === undefined ? [] : [`Retry-After: ${retryAfterSeconds}`]),
    '',
    JSON.stringify(envelope, null, 2),
  ].join('\n');
}

/** The list of all errors. */
export function errorIndexMarkdown(publicUrl: string): string {
  return `Every error of v1 and of the partner reports is JSON with one ${code('error')} object:

${block('json', JSON.stringify(exampleEnvelope('E1001', publicUrl), null, 2))}

- Decide by ${code('errorCode')} or ${code('code')}; ${code('message')} is for developers and may change.
- ${code('param')} names the field or parameter at fault, if there is one.
- Retry only where the header ${code('X-MP-Should-Retry')} is ${code('true')}: see [idempotency and retries](/docs/idempotency).
- Show ${code('message')} to customers only where ${code('userSafeMessage')} is ${code('true')}.
- Quote ${code('requestId')} in support requests; it is also in ${code('X-Request-Id')}, except where a stored failure is replayed: then the body has the ID of the request that failed.

## Codes

${table(
  ['errorCode', 'code', 'HTTP', 'Retry', 'Meaning'],
  ERROR_CODES.map(errorCode => {
    const { code: slug, status, retry, meaning } = ERRORS[errorCode];
    return [errorLink(errorCode), code(slug), status, retry ? 'yes' : 'no', meaning];
  }),
)}`;
}
