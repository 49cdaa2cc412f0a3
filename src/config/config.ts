import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { DATE_EXPECTED, parseDateBound } from '#time/date-bound.ts';
import { findConflicts, findUnsafeInProduction } from './conflicts.ts';
import { checkDatabaseUrl } from './database-url.ts';
import { type Environment, EnvironmentReader } from './environment-reader.ts';
import { type MailSettings, readMail } from './mail-settings.ts';
import { parseRedisUrl } from './redis-url.ts';
import { type ReadFile, readText, withSecretFiles } from './secret-files.ts';
import { parsePrivateUrl, parseTrustProxy } from './values.ts';

/** The configuration of a process, read once at its start. */
export interface Config {
  /** `production` disables simulation but for test merchants, plain-HTTP redirects and generated master keys. */
  readonly environment: 'development' | 'test' | 'production';
  /**
   * Whether payments may be paid without money: on the embedded database, or on another with
   * SIMULATION=on. A forgotten NODE_ENV does not turn it on.
   */
  readonly simulation: boolean;
  readonly host: string;
  readonly port: number;
  /** Base of checkout and documentation links, without a trailing slash. */
  readonly publicUrl: string;
  /** Base of the panel's links, without a trailing slash; null, the default in production, for no panel. */
  readonly panelUrl: string | null;
  /** Base URL of a service that knows breached passwords, without a trailing slash; null checks none. */
  readonly breachedPasswordsUrl: string | null;
  /** SMTP server and sender of mail to people; null sends no mail. */
  readonly mail: MailSettings | null;
  /** How long a change of where a merchant's money goes waits before it takes effect, in hours. */
  readonly addressDelayHours: number;
  /** Proxies that are trusted to name the client: their networks, or how many of them are in a row. */
  readonly trustProxy: false | number | string[];
  /** The header in which they name it. The other one is ignored: a client may have written it. */
  readonly trustProxyHeader: (typeof FORWARDED_HEADERS)[number];
  /** PostgreSQL connection URL, perhaps of several servers (server-urls.ts); null runs the embedded server below `dataDirectory`. */
  readonly databaseUrl: string | null;
  /** URL of PostgreSQL itself when `databaseUrl` is a pooler in transaction mode; null otherwise. */
  readonly databaseDirectUrl: string | null;
  /** Whether writes are refused unless a standby has each commit as well. */
  readonly databaseDurability: 'server' | 'replicated';
  readonly databasePoolSize: number;
  /** URL of PostgreSQL itself for the role that owns the tables, for migrations; null migrates as the service. */
  readonly migrationUrl: string | null;
  /** Database for partner reports, for example a replica; null reads them from `databaseUrl`. */
  readonly reportsUrl: string | null;
  readonly reportsPoolSize: number;
  /** Redis or Valkey for nonces: one server, a cluster or sentinels (redis-url.ts); null keeps them in PostgreSQL. */
  readonly redisUrl: string | null;
  /** 32-byte master keys, the current one first; empty generates one below `dataDirectory`. */
  readonly masterKeys: readonly Buffer[];
  /** Processor that collects payments on US accounts; null refuses to create them (E1030). */
  readonly processor: { readonly name: 'sandbox' } | StripeConfig | null;
  /** Requests that a client may make per window. */
  readonly rateLimitMax: number;
  readonly rateLimitWindowSeconds: number;
  /** Maximum number of signed requests in flight; more are refused with E5002. */
  readonly requestsInFlightMax: number;
  /** Source of asset prices: `live` asks markets, `fixed` uses constants for development. */
  readonly rates: 'live' | 'fixed';
  /** Since when the older contract (/external without a version) is deprecated; null names no date. */
  readonly legacyDeprecation: Date | null;
  /** When the older contract ends; null while undecided. */
  readonly legacySunset: Date | null;
  /** How long events, webhook deliveries and their attempts are kept, in days. */
  readonly retentionDays: number;
  /** How often a chain is polled, in milliseconds; null for each chain's own interval. */
  readonly watchIntervalMs: number | null;
  /** Which requests of API keys the panel's request log keeps: all, failures and creations, or none. */
  readonly requestLog: 'all' | 'failures' | 'off';
  readonly logLevel: string;
  /** Address of the metrics server, which is separate from the API; null starts none. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
  /** Base URL of an OpenTelemetry collector for OTLP over HTTP; null sends no spans. */
  readonly otlpEndpoint: string | null;
  /** Directory of the embedded database, the generated master key and the demo's credentials. */
  readonly dataDirectory: string;
}

interface StripeConfig {
  readonly name: 'stripe';
  readonly secretKey: string;
  /** Verifies the signatures of Stripe's webhooks. */
  readonly webhookSecret: string;
  /** Base URL of Stripe's API, for tests; null is Stripe's own. */
  readonly apiUrl: string | null;
}

/** The environment is invalid. The message has one line for each problem, ready to print. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
  }
}

const ENVIRONMENTS = ['development', 'test', 'production'] as const;
const DURABILITIES = ['server', 'replicated'] as const;
const SWITCH = ['on', 'off'] as const;
/** Deliveries are retried for three days; operators look into failures after that. */
const RETENTION_DAYS_MINIMUM = 7;
const REQUESTS_KEPT = ['all', 'failures', 'off'] as const;
/** Delay of changes of where money goes: a day in production, a week at most. */
const ADDRESS_DELAY_HOURS = 24;
const ADDRESS_DELAY_HOURS_MAXIMUM = 168;
/** Headers in which proxies name the client; the second is RFC 7239's. */
const FORWARDED_HEADERS = ['x-forwarded-for', 'forwarded'] as const;
const RATES = ['live', 'fixed'] as const;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const PROCESSORS = ['sandbox', 'stripe'] as const;
const STRIPE_SECRET_KEY = /^[sr]k_(test|live)_\w{1,255}$/;
const STRIPE_WEBHOOK_SECRET = /^whsec_[\w+/=-]{1,255}$/;
const HOSTNAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i;
const REPOSITORY_ROOT = resolve(import.meta.dirname, '../..');

/**
 * Reads and validates the configuration. An empty value counts as unset. A secret may be in a file, whose path
 * is in the variable with the suffix `_FILE`.
 * @throws ConfigError naming every invalid variable, its value and what is expected. Values of secrets and
 * connection URLs are left out.
 */
export function readConfig(given: Environment, readFile: ReadFile = readText): Config {
  const unreadable: string[] = [];
  const env = withSecretFiles(given, unreadable, readFile);
  const from = new EnvironmentReader(env);
  const hostname = (name: string) =>
    from.read(name, '127.0.0.1', {
      expected: 'an IP address or a hostname',
      parse: text => (isIP(text) > 0 || HOSTNAME.test(text) ? text : undefined),
    });
  const databaseUrl = (name: string, maximum = Number.POSITIVE_INFINITY) =>
    from.connectionUrl(name, text =>
      checkDatabaseUrl(text, { maximum, mode: env.PGSSLMODE, readFile }),
    );

  const date = (name: string) =>
    from.read<Date | null>(name, null, { expected: DATE_EXPECTED, parse: parseDateBound });

  const environment = from.oneOf('NODE_ENV', 'development', ENVIRONMENTS);
  const isProduction = environment === 'production';
  const simulates = from.oneOf('SIMULATION', env.DATABASE_URL ? 'off' : 'on', SWITCH);
  const simulation = simulates === 'on' && !isProduction;
  const port = from.integer('PORT', 3000, 0, 65535);
  const publicUrl = from.baseUrl('PUBLIC_URL', `http://127.0.0.1:${port}`);
  const panelUrl = from.baseUrl<string | null>('PANEL_URL', isProduction ? null : publicUrl);
  const metricsHost = hostname('METRICS_HOST');
  const metricsPort = from.integer<number | null>('METRICS_PORT', null, 0, 65535);
  const stripe = {
    secretKey: from.secret('STRIPE_SECRET_KEY', 'a key sk_… or rk_…', STRIPE_SECRET_KEY),
    webhookSecret: from.secret('STRIPE_WEBHOOK_SECRET', 'a secret whsec_…', STRIPE_WEBHOOK_SECRET),
    apiUrl: from.baseUrl<null>('STRIPE_API_URL', null),
  };
  const config: Config = {
    environment,
    simulation,
    host: hostname('HOST'),
    port,
    publicUrl,
    panelUrl,
    breachedPasswordsUrl: from.read<string | null>('BREACHED_PASSWORDS_URL', null, {
      expected: 'an https URL without query or fragment, or an http URL on loopback',
      parse: parsePrivateUrl,
    }),
    mail: readMail(from, panelUrl),
    addressDelayHours: from.integer(
      'PANEL_ADDRESS_DELAY_HOURS',
      isProduction ? ADDRESS_DELAY_HOURS : 0,
      0,
      ADDRESS_DELAY_HOURS_MAXIMUM,
    ),
    trustProxy: from.read<Config['trustProxy']>('TRUST_PROXY', false, {
      expected:
        'false, a number of proxies from 1 to 9, or a comma-separated list of addresses and networks',
      parse: parseTrustProxy,
    }),
    trustProxyHeader: from.oneOf('TRUST_PROXY_HEADER', 'x-forwarded-for', FORWARDED_HEADERS),
    databaseUrl: databaseUrl('DATABASE_URL'),
    databaseDirectUrl: databaseUrl('DATABASE_DIRECT_URL'),
    databaseDurability: from.oneOf('DATABASE_DURABILITY', 'server', DURABILITIES),
    databasePoolSize: from.integer('DATABASE_POOL_SIZE', 10, 1, 1000),
    migrationUrl: databaseUrl('MIGRATION_DATABASE_URL'),
    reportsUrl: databaseUrl('DATABASE_REPORTS_URL', 1),
    reportsPoolSize: from.integer('DATABASE_REPORTS_POOL_SIZE', 4, 1, 1000),
    redisUrl: from.connectionUrl('REDIS_URL', parseRedisUrl),
    masterKeys: [
      ...from.masterKeys('MASTER_KEY', '32 bytes in base64 (openssl rand -base64 32)', 1),
      ...from.masterKeys(
        'MASTER_KEYS_PREVIOUS',
        'a comma-separated list of previous master keys',
        20,
      ),
    ],
    processor: toProcessor(
      from.oneOf<(typeof PROCESSORS)[number] | 'none'>(
        'PROCESSOR',
        // The service may run without a processor: accounts outside the US need none.
        simulation ? 'sandbox' : 'none',
        PROCESSORS,
      ),
      stripe,
    ),
    rateLimitMax: from.integer('RATE_LIMIT_MAX', 60, 1, 100_000_000),
    rateLimitWindowSeconds: from.integer('RATE_LIMIT_WINDOW_SECONDS', 60, 1, 86_400),
    requestsInFlightMax: from.integer('REQUESTS_IN_FLIGHT_MAX', 500, 1, 100_000),
    rates: from.oneOf('RATES', simulation ? 'fixed' : 'live', RATES),
    legacyDeprecation: date('LEGACY_DEPRECATION'),
    legacySunset: date('LEGACY_SUNSET'),
    retentionDays: from.integer('RETENTION_DAYS', 90, RETENTION_DAYS_MINIMUM, 36_500),
    watchIntervalMs: from.integer<number | null>('WATCH_INTERVAL_MS', null, 10, 60_000),
    requestLog: from.oneOf('REQUEST_LOG', 'failures', REQUESTS_KEPT),
    logLevel: from.oneOf('LOG_LEVEL', 'info', LOG_LEVELS),
    metrics: metricsPort === null ? null : { host: metricsHost, port: metricsPort },
    otlpEndpoint: from.baseUrl<null>('OTEL_EXPORTER_OTLP_ENDPOINT', null),
    dataDirectory: env.DATA_DIRECTORY ? resolve(env.DATA_DIRECTORY) : `${REPOSITORY_ROOT}/.data`,
  };

  const problems = [...unreadable, ...from.problems, ...findConflicts(env, config)];
  if (isProduction) problems.push(...findUnsafeInProduction(env, config, stripe.secretKey));
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** With a missing secret, `findConflicts` reports the problem and this result is not used. */
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

/** Secret and restricted keys of Stripe's live mode, as opposed to test mode. */
const LIVE_KEY = /^[sr]k_live_/;

/** Whether a processor takes real money, according to its key. */
export function isProcessorLive(processor: Config['processor']): boolean {
  return processor?.name === 'stripe' && LIVE_KEY.test(processor.secretKey);
}
