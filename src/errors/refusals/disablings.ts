/** Why webhook endpoints are disabled, in English. */
export const DISABLE_REASONS = {
  answeredGone: 'It answered 410 Gone.',
  by: (name: string) => `Disabled by ${name}.`,
} as const;

/** The same sentences in some language. */
interface DisableReasons {
  readonly answeredGone: string;
  readonly by: (name: string) => string;
}

/**
 * Why an endpoint is disabled, as it is stored: a code, and the name of who did it. While the previous release still
 * runs beside this one, it shows the stored text as it is.
 */
export type DisableReason = 'answered-gone' | `disabled-by ${string}`;

/** Whether an endpoint was disabled for its response. Former releases stored the English sentence. */
export function isAnsweredGone(stored: string | null): boolean {
  return (
    stored === ('answered-gone' satisfies DisableReason) || stored === DISABLE_REASONS.answeredGone
  );
}

/** The sentence of what is stored, in the language of the texts. One that a former release stored stays as it is. */
export function wordDisabling(texts: DisableReasons, stored: string | null): string {
  if (isAnsweredGone(stored)) return texts.answeredGone;
  const [, name] = /^disabled-by (.*)$/s.exec(stored ?? '') ?? [];
  return name === undefined ? (stored ?? '') : texts.by(name);
}
