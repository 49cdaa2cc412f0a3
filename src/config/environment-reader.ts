import { allDefined, decodeMasterKey, parseBaseUrl, parseUrl, quote } from './values.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** How a variable is written, for whoever has to correct it. */
interface Form<T> {
  /** Completes "but takes". */
  readonly takes: string;
  /** The value of a text; undefined for one that is not taken. */
  readonly parse: (text: string) => T | undefined;
  /** Whether the value is kept out of messages. */
  readonly secret?: boolean;
}

/**
 * Reads an environment one variable at a time, and collects what is wrong with it instead of stopping
 * at the first. An empty value counts as unset; the fallback stands in for what is unset or wrong.
 */
export class EnvironmentReader {
  readonly problems: string[] = [];
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  read<T>(name: string, fallback: T, { takes, parse, secret = false }: Form<T>): T {
    const text = this.#env[name];
    if (text === undefined || text === '') return fallback;
    const value = parse(text);
    if (value !== undefined) return value;
    const got = secret ? `a value of ${text.length} characters` : quote(text);
    this.problems.push(`${name} is ${got}, but takes ${takes}.`);
    return fallback;
  }

  /** A whole number within bounds. */
  integer<T extends number | null = number>(
    name: string,
    fallback: T | number,
    minimum: number,
    maximum: number,
  ): T | number {
    return this.read<T | number>(name, fallback, {
      takes: `a whole number from ${minimum} to ${maximum}`,
      parse: text => {
        const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
        return value >= minimum && value <= maximum ? value : undefined;
      },
    });
  }

  oneOf<T extends string>(name: string, fallback: T, values: readonly T[]): T {
    return this.read(name, fallback, {
      takes: `one of ${values.join(', ')}`,
      parse: text => values.find(value => value === text),
    });
  }

  /** A URL that others' paths are added to, without a trailing slash. */
  baseUrl<T extends string | null>(name: string, fallback: T | string): T | string {
    return this.read<T | string>(name, fallback, {
      takes: 'an http or https URL without query or fragment',
      parse: parseBaseUrl,
    });
  }

  /** A URL that may hold a password. */
  connectionUrl(name: string, takes: string, protocols: readonly string[]): string | null {
    const parse = (text: string) => parseUrl(text, protocols);
    return this.read<string | null>(name, null, { takes, parse, secret: true });
  }

  /** A credential of this form. */
  secret(name: string, takes: string, form: RegExp): string | null {
    const parse = (text: string) => (form.test(text) ? text : undefined);
    return this.read<string | null>(name, null, { takes, parse, secret: true });
  }

  /** Keys in base64, separated by commas. */
  masterKeys(name: string, takes: string, maximum: number): Buffer[] {
    const parse = (text: string) => {
      const keys = text.split(',').map(part => decodeMasterKey(part.trim()));
      return keys.length <= maximum ? allDefined(keys) : undefined;
    };
    return this.read<Buffer[]>(name, [], { takes, parse, secret: true });
  }
}
