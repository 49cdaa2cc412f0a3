import { ERRORS, type ErrorCode } from '../../errors/catalogue.ts';
import { LEGACY_WINDOW_MINUTES } from '../../legacy/prompts.ts';
import { LEGACY_REFUSALS, type LegacyReason } from '../../legacy/refusal.ts';
import { REASONS } from '../../legacy/translate.ts';
import { DEPRECATED_SINCE } from '../../routes/legacy/deprecation.ts';
import { LEGACY_PREFIX } from '../../routes/legacy/paths.ts';
import { V1_PREFIX } from '../../routes/v1/index.ts';
import { code, duration, error, type Guide, table } from './guide.ts';

/** What v1 says in place of the failures that are of the older contract's own making. */
const OWN_REASONS: Partial<Record<LegacyReason, readonly ErrorCode[]>> = {
  bodyInvalid: ['E1000', 'E1001', 'E1002'],
  mainBranchMissing: ['E1030'],
  noPaymentAddresses: ['E1020'],
  paymentAddressesMissing: ['E1020'],
  authorizationMissing: ['E2001'],
  authorizationMalformed: ['E2001'],
  clientIdInvalid: ['E2004'],
  apiKeyInvalid: ['E2004', 'E2007'],
  userInactive: ['E2008'],
  userNotAdmin: ['E2008'],
  promptMissing: ['E3001', 'E1001'],
  internal: ['E5001'],
};

function successorsOf(reason: LegacyReason): readonly ErrorCode[] {
  const translated = (Object.keys(ERRORS) as ErrorCode[]).filter(
    errorCode => REASONS[errorCode] === reason,
  );
  return OWN_REASONS[reason] ?? translated;
}

const day = (date: Date) => date.toISOString().slice(0, 10);

export const OLDER_CONTRACT: Guide = {
  slug: 'older-contract',
  title: 'Moving from the older contract',
  description: 'What came before v1, line by line, and what does the same now.',
  markdown: ({
    legacySunset,
  }) => `The contract below ${code(LEGACY_PREFIX)} without a version still works as it did, over the same payments: both can be used side by side while you move. It has been deprecated since ${day(DEPRECATED_SINCE)}, and ${
    legacySunset === null ? 'no date for its end has been set' : `ends on **${day(legacySunset)}**`
  }. Every answer says so in ${code('Deprecation')}${legacySunset === null ? '' : ` and ${code('Sunset')}`}, and names its successor in ${code('Link')}.

## In five steps

1. Have a [key](/docs/quickstart#1-have-a-key) made, with the scopes you need, and [sign](/docs/signing) with it.
2. Read payments through v1. What was created through the older contract is there too.
3. Create through v1, with amounts in cents and an [idempotency key](/docs/idempotency).
4. Decide by ${code('errorCode')} instead of by messages.
5. Have the old API key removed.

## Routes

${table(
  ['older contract', 'v1'],
  [
    [code(`POST ${LEGACY_PREFIX}/payments/prompt`), code(`POST ${V1_PREFIX}/payments/prompt`)],
    [
      code(`GET ${LEGACY_PREFIX}/payments/prompt/{id}`),
      `${code(`GET ${V1_PREFIX}/payments/{id}`)}, and a list`,
    ],
    [
      code(`GET ${LEGACY_PREFIX}/blockchains/active`),
      `${code(`GET ${V1_PREFIX}/blockchains/active`)}, the same array`,
    ],
  ],
)}

## Requests and answers

${table(
  ['older contract', 'v1'],
  [
    [
      `${code('Authorization: Basic')} of client ID and API key`,
      '[five signing headers](/docs/signing), keys with scopes',
    ],
    [`${code('amount')} ${code('19.99')}, dollars`, `${code('amount')} ${code('1999')}, cents`],
    [
      `${code('blockchainIds')} required`,
      'optional: left out, all active networks with an address',
    ],
    [
      `${code('payer')} ${code('merchant')} or ${code('customer')}, for each payment`,
      `the merchant's setting; ${code('commissionPayer')} says ${code('merchant')} or ${code('shopper')}`,
    ],
    [`${code('note')} or ${code('redirectUrl')} may be ${code('null')}`, 'leave them out'],
    ['unknown fields are ignored', error('E1002')],
    ['no protection from creating twice', code('Idempotency-Key')],
    ['nothing to find an order by', code('customerReferenceId')],
    ['a few fields of the payment', 'the whole payment object, every time'],
    [
      `${code('commissionAmount')} ${code('"0.00"')}, also while undetermined`,
      `cents; ${code('null')} while undetermined`,
    ],
    [
      `${code('expiresAt')} ${duration(LEGACY_WINDOW_MINUTES * 60)} after creation, whatever is chosen`,
      'minutes, set anew when a network is chosen: read it',
    ],
    ['poll', 'poll, or [webhooks](/docs/webhooks), which tell older prompts too'],
  ],
)}

## Failures

${code('{ statusCode, message, error }')} becomes [one envelope](/docs/errors) with ${code('errorCode')}; ${code('X-MP-Should-Retry')} says whether to retry.

${table(
  ['HTTP', 'message', 'v1'],
  (Object.keys(LEGACY_REFUSALS) as LegacyReason[]).map(reason => [
    LEGACY_REFUSALS[reason].status,
    code(LEGACY_REFUSALS[reason].message),
    successorsOf(reason).map(error).join(', '),
  ]),
)}`,
};
