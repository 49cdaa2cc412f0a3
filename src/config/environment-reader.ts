import { DatabaseUrlError } from './database-tls.ts';
import { RedisUrlError } from './redis-url.ts';
import { allDefined, decodeMasterKey, parseBaseUrl, quote } from './values.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The format of a variable. */
interface Format<T> {
  /** Completes "but must be" in the message for an invalid value. */
  readonly expected: string;
  /** Returns undefined for an invalid value. */
  readonly parse: (text: string) => T | undefined;
  /** Keeps the value out of messages. */
  readonly secret?: boolean;
}

/**
 * Reads an environment variable by variable and collects all problems instead of throwing at the first.
 * An empty value counts as unset. An unset or invalid variable gets its fallback.
 */
export class EnvironmentReader {
  readonly problems: string[] = [];
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  read<T>(name: string, fallback: T, { expected, parse, secret = false }: Format<T>): T {
    const text = this.#env[name];
    if (text === undefined || text === '') return fallback;
    const value = parse(text);
    if (value !== undefined) return value;
    const got = secret ? `a value of ${text.length} characters` : quote(text);
    this.problems.push(`${name} is ${got}, but must be ${expected}.`);
    return fallback;
  }

  integer<T extends number | null = number>(
    name: string,
    fallback: T | number,
    minimum: number,
    maximum: number,
  ): T | number {
    return this.read<T | number>(name, fallback, {
      expected: `a whole number from ${minimum} to ${maximum}`,
      parse: text => {
        const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
        return value >= minimum && value <= maximum ? value : undefined;
      },
    });
  }

  oneOf<T extends string>(name: string, fallback: T, values: readonly T[]): T {
    return this.read(name, fallback, {
      expected: `one of ${values.join(', ')}`,
      parse: text => values.find(value => value === text),
    });
  }

  /** A URL to append paths to, returned without a trailing slash. */
  baseUrl<T extends string | null>(name: string, fallback: T | string): T | string {
    return this.read<T | string>(name, fallback, {
      expected: 'an http or https URL without query or fragment',
      parse: parseBaseUrl,
    });
  }

  /**
   * A URL that may contain a password, so it is kept out of messages.
   * @param check Throws a DatabaseUrlError or RedisUrlError, whose message follows the variable's name in the problem.
   */
  connectionUrl(name: string, check: (text: string) => void): string | null {
    const text = this.#env[name];
    if (text === undefined || text === '') return null;
    try {
      check(text);
      return text;
    } catch (error) {
      if (!(error instanceof DatabaseUrlError || error instanceof RedisUrlError)) throw error;
      this.problems.push(`${name} ${error.message}.`);
      return null;
    }
  }

  secret(name: string, expected: string, pattern: RegExp): string | null {
    const parse = (text: string) => (pattern.test(text) ? text : undefined);
    return this.read<string | null>(name, null, { expected, parse, secret: true });
  }

  /** At most `maximum` keys in base64, separated by commas. */
  masterKeys(name: string, expected: string, maximum: number): Buffer[] {
    const parse = (text: string) => {
      const keys = text.split(',').map(part => decodeMasterKey(part.trim()));
      return keys.length <= maximum ? allDefined(keys) : undefined;
    };
    return this.read<Buffer[]>(name, [], { expected, parse, secret: true });
  }
}
