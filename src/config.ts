import { isIP } from 'node:net';
import { resolve } from 'node:path';
import {
  allDefined,
  decodeMasterKey,
  parseBaseUrl,
  parseTrustProxy,
  parseUrl,
  quote,
} from './config-values.ts';
import { parseDateBound } from './date-bound.ts';

/** The state a process is configured into; read once, never looked up again. */
export interface Config {
  /** `production` switches simulation, plain-HTTP redirects and generated keys off. */
  readonly environment: 'development' | 'test' | 'production';
  readonly host: string;
  readonly port: number;
  /** Base of checkout and documentation links, without a trailing slash. */
  readonly publicUrl: string;
  /** Fastify's `trustProxy`: whose X-Forwarded-For is believed. */
  readonly trustProxy: boolean | string[];
  /** PostgreSQL connection URL; null runs the embedded server below `dataDirectory`. */
  readonly databaseUrl: string | null;
  /** PostgreSQL itself where `databaseUrl` is a pooler in transaction mode; null where it is not. */
  readonly databaseDirectUrl: string | null;
  readonly databasePoolSize: number;
  /** Where partner reports are read, for example a replica; null reads them from the database. */
  readonly reportsUrl: string | null;
  readonly reportsPoolSize: number;
  /** Redis or Valkey for nonces; null keeps them in PostgreSQL. */
  readonly redisUrl: string | null;
  /** 32-byte master keys, the current one first; empty generates one below `dataDirectory`. */
  readonly masterKeys: readonly Buffer[];
  /** Who collects payments on US accounts; null refuses to create them (E1030). */
  readonly processor: { readonly name: 'sandbox' } | StripeConfig | null;
  /** Requests a client may make in each window. */
  readonly rateLimitMax: number;
  readonly rateLimitWindowSeconds: number;
  /** Signed requests worked on at once; more are refused with E5002. */
  readonly requestsInFlightMax: number;
  /** Where prices of assets come from: markets, or numbers that stand still for development. */
  readonly rates: 'live' | 'fixed';
  /** When the contract below /external without a version ends; null while that is not decided. */
  readonly legacySunset: Date | null;
  readonly logLevel: string;
  /** Where metrics are served, apart from the API; null serves none. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  /** Base URL of an OpenTelemetry collector that takes OTLP over HTTP; null sends no spans. */
  readonly otlpEndpoint: string | null;
  /** Where the embedded database, the generated master key and the demo's credentials live. */
  readonly dataDirectory: string;
}

interface StripeConfig {
  readonly name: 'stripe';
  readonly secretKey: string;
  /** Verifies what Stripe sends to our endpoint. */
  readonly webhookSecret: string;
  /** Where Stripe's API is, for tests; null is Stripe itself. */
  readonly apiUrl: string | null;
}

/** What is wrong with the environment, one line a variable, fit to print and exit with status 1. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const ENVIRONMENTS = ['development', 'test', 'production'] as const;
const RATES = ['live', 'fixed'] as const;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const PROCESSORS = ['sandbox', 'stripe'] as const;
const STRIPE_SECRET_KEY = /^[sr]k_(test|live)_\w{1,255}$/;
const STRIPE_WEBHOOK_SECRET = /^whsec_[\w+/=-]{1,255}$/;
const HOSTNAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i;
const CHECKOUT_ROOT = resolve(import.meta.dirname, '..');

/**
 * Reads and validates the whole configuration.
 *
 * An empty value counts as unset. Values of secrets and connection URLs are never repeated in a
 * message.
 *
 * @throws ConfigError naming every variable that is wrong, what it got and what it takes.
 */
export function readConfig(env: Environment): Config {
  const problems: string[] = [];

  /** Parses one variable; `parse` returns undefined for a value it does not take. */
  function read<T>(
    name: string,
    fallback: T,
    takes: string,
    parse: (text: string) => T | undefined,
    secret = false,
  ): T {
    const text = env[name];
    if (text === undefined || text === '') return fallback;
    const value = parse(text);
    if (value !== undefined) return value;
    const got = secret ? `a value of ${text.length} characters` : quote(text);
    problems.push(`${name} is ${got}, but takes ${takes}.`);
    return fallback;
  }

  const integer = <T extends number | null = number>(
    name: string,
    fallback: T | number,
    minimum: number,
    maximum: number,
  ) =>
    read<T | number>(name, fallback, `a whole number from ${minimum} to ${maximum}`, text => {
      const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      return value >= minimum && value <= maximum ? value : undefined;
    });
  const oneOf = <T extends string>(name: string, fallback: T, values: readonly T[]) =>
    read(name, fallback, `one of ${values.join(', ')}`, text =>
      values.find(value => value === text),
    );
  const databaseUrl = (name: string) =>
    read<string | null>(
      name,
      null,
      'a postgres:// URL',
      text => parseUrl(text, ['postgres:', 'postgresql:']),
      true,
    );
  const masterKeys = (name: string, takes: string, maximum: number) =>
    read<Buffer[]>(
      name,
      [],
      takes,
      text => {
        const keys = text.split(',').map(part => decodeMasterKey(part.trim()));
        return keys.length <= maximum ? allDefined(keys) : undefined;
      },
      true,
    );

  const environment = oneOf('NODE_ENV', 'development', ENVIRONMENTS);
  const port = integer('PORT', 3000, 0, 65535);
  const hostname = (name: string) =>
    read(name, '127.0.0.1', 'an IP address or a hostname', text =>
      isIP(text) > 0 || HOSTNAME.test(text) ? text : undefined,
    );
  const metricsHost = hostname('METRICS_HOST');
  const metricsPort = integer<number | null>('METRICS_PORT', null, 0, 65535);
  const stripeSecret = (name: string, takes: string, form: RegExp) =>
    read<string | null>(name, null, takes, text => (form.test(text) ? text : undefined), true);
  const stripe = {
    secretKey: stripeSecret('STRIPE_SECRET_KEY', 'a key sk_… or rk_…', STRIPE_SECRET_KEY),
    webhookSecret: stripeSecret('STRIPE_WEBHOOK_SECRET', 'a secret whsec_…', STRIPE_WEBHOOK_SECRET),
    apiUrl: read<string | null>('STRIPE_API_URL', null, 'an http or https URL', parseBaseUrl),
  };
  const config: Config = {
    environment,
    host: hostname('HOST'),
    port,
    publicUrl: read(
      'PUBLIC_URL',
      `http://127.0.0.1:${port}`,
      'an http or https URL without query or fragment',
      parseBaseUrl,
    ),
    trustProxy: read<Config['trustProxy']>(
      'TRUST_PROXY',
      false,
      'true, false or a comma-separated list of addresses and networks',
      parseTrustProxy,
    ),
    databaseUrl: databaseUrl('DATABASE_URL'),
    databaseDirectUrl: databaseUrl('DATABASE_DIRECT_URL'),
    databasePoolSize: integer('DATABASE_POOL_SIZE', 10, 1, 1000),
    reportsUrl: databaseUrl('DATABASE_REPORTS_URL'),
    reportsPoolSize: integer('DATABASE_REPORTS_POOL_SIZE', 4, 1, 1000),
    redisUrl: read<string | null>(
      'REDIS_URL',
      null,
      'a redis:// or rediss:// URL',
      text => parseUrl(text, ['redis:', 'rediss:']),
      true,
    ),
    masterKeys: [
      ...masterKeys('MASTER_KEY', '32 bytes in base64 (openssl rand -base64 32)', 1),
      ...masterKeys('MASTER_KEYS_PREVIOUS', 'a comma-separated list of former master keys', 20),
    ],
    processor: toProcessor(
      oneOf<(typeof PROCESSORS)[number] | 'none'>(
        'PROCESSOR',
        // A production without one still serves every other account.
        environment === 'production' ? 'none' : 'sandbox',
        PROCESSORS,
      ),
      stripe,
    ),
    rateLimitMax: integer('RATE_LIMIT_MAX', 60, 1, 100_000_000),
    rateLimitWindowSeconds: integer('RATE_LIMIT_WINDOW_SECONDS', 60, 1, 86_400),
    requestsInFlightMax: integer('REQUESTS_IN_FLIGHT_MAX', 500, 1, 100_000),
    rates: oneOf('RATES', environment === 'production' ? 'live' : 'fixed', RATES),
    legacySunset: read<Date | null>(
      'LEGACY_SUNSET',
      null,
      'an RFC 3339 date, or date-time with its offset',
      parseDateBound,
    ),
    logLevel: oneOf('LOG_LEVEL', 'info', LOG_LEVELS),
    metrics: metricsPort === null ? null : { host: metricsHost, port: metricsPort },
    otlpEndpoint: read<string | null>(
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      null,
      'an http or https URL without query or fragment',
      parseBaseUrl,
    ),
    dataDirectory: env.DATA_DIRECTORY ? resolve(env.DATA_DIRECTORY) : `${CHECKOUT_ROOT}/.data`,
  };

  if (!env.DATABASE_URL && env.DATABASE_DIRECT_URL) {
    problems.push('DATABASE_DIRECT_URL is set without DATABASE_URL; set both.');
  }
  if (metricsPort === port && port !== 0) {
    problems.push(`METRICS_PORT is ${port}, which is PORT; metrics take a port of their own.`);
  }
  if (!env.MASTER_KEY && env.MASTER_KEYS_PREVIOUS) {
    problems.push('MASTER_KEYS_PREVIOUS is set without MASTER_KEY; set both.');
  }
  if (env.PROCESSOR === 'stripe') {
    for (const name of ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET']) {
      if (!env[name]) problems.push(`${name} is not set, but PROCESSOR=stripe needs it.`);
    }
  }
  if (environment === 'production') {
    if (env.PROCESSOR === 'sandbox') {
      problems.push('PROCESSOR is "sandbox", which collects nothing; production takes stripe.');
    }
    if (stripe.secretKey?.includes('k_test_')) {
      problems.push('STRIPE_SECRET_KEY is a test key; production takes sk_live_… or rk_live_….');
    }
    if (env.STRIPE_API_URL) {
      problems.push('STRIPE_API_URL is set, but production talks to Stripe alone.');
    }
    if (!env.DATABASE_URL) problems.push('DATABASE_URL is not set, but production needs it.');
    if (config.rates === 'fixed')
      problems.push('RATES is "fixed", but production takes only live.');
    if (!env.MASTER_KEY) {
      problems.push(
        'MASTER_KEY is not set, but production needs it: 32 bytes in base64 (openssl rand -base64 32).',
      );
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** Without its secrets there is a problem to report, and what this returns is not used. */
function toProcessor(
  name: 'sandbox' | 'stripe' | 'none',
  {
    secretKey,
    webhookSecret,
    apiUrl,
  }: Record<'secretKey' | 'webhookSecret' | 'apiUrl', string | null>,
): Config['processor'] {
  if (name === 'sandbox') return { name };
  if (name === 'none' || secretKey === null || webhookSecret === null) return null;
  return { name, secretKey, webhookSecret, apiUrl };
}
