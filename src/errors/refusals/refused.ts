import { ACCOUNTS } from './accounts.ts';
import { ADDRESSES } from './addresses.ts';
import { PAYMENTS } from './payments.ts';
import { PEOPLE } from './people.ts';
import { WEBHOOKS } from './webhooks.ts';
import { type Coded, type CodedArguments, type Translation, wordRefusal } from './wording.ts';

/** Why operations are refused, by code, in English. */
export const REFUSALS = { ...ACCOUNTS, ...ADDRESSES, ...PAYMENTS, ...PEOPLE, ...WEBHOOKS } as const;

/** The same sentences in some language. */
export type Refusals = Translation<typeof REFUSALS>;

/** Why an operation is refused; `wordRefusal` words it in the language of some `Refusals`. */
export type Refusal = Coded<keyof Refusals>;

/** A code, and its values if its sentence has any. */
export type RefusalArguments = CodedArguments<typeof REFUSALS>;

/** An operation is refused. The message is in English, for operators and logs. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(...[code, values]: RefusalArguments) {
    super(wordRefusal(REFUSALS, { code, values }));
    this.refusal = { code, values };
  }
}
