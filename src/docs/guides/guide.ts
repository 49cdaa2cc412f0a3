import type { Config } from '../../config/config.ts';
import type { ErrorCode } from '../../errors/catalogue.ts';

/** What a guide may say of the installation that serves it. */
export type GuideContext = Pick<
  Config,
  'publicUrl' | 'rateLimitMax' | 'rateLimitWindowSeconds' | 'legacySunset' | 'environment'
>;

/** A page of the documentation, written as Markdown. */
export interface Guide {
  /** The page's address is `/docs/{slug}`. */
  readonly slug: string;
  readonly title: string;
  /** One sentence: what the reader will know afterwards. */
  readonly description: string;
  /** What stands below the title and the description. Links to other pages begin with `/docs/`. */
  markdown(context: GuideContext): string;
}

/** A Markdown table; what is in the cells is Markdown itself. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const line = (cells: readonly (string | number)[]) =>
    `| ${cells.map(cell => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export function code(text: string | number): string {
  return `\`${text}\``;
}

export function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

export function json(value: unknown): string {
  return block('json', JSON.stringify(value, null, 2));
}

/** A link to an error's page. */
export function error(errorCode: ErrorCode): string {
  return `[${errorCode}](/docs/errors/${errorCode})`;
}

const UNITS = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;

/** A span in the largest unit that it is a whole number of, e.g. `24 hours`. */
export function duration(seconds: number): string {
  // A single day is said in hours, as the contract does.
  const [size, unit] = UNITS.find(([length]) => seconds % length === 0 && seconds !== length) ?? [
    1,
    'second',
  ];
  const count = seconds / size;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Cents as dollars with separators, e.g. `$1,000,000.00`. */
export function dollars(cents: number): string {
  const text = (cents / 100).toLocaleString('en-US', { minimumFractionDigits: 2 });
  return `$${text}`;
}
