import type { Environment } from './environment-reader.ts';
import { serverUrls } from './server-urls.ts';

/** The settings that the rules below compare with the environment. */
interface Settings {
  readonly environment: 'development' | 'test' | 'production';
  readonly simulation: boolean;
  readonly databaseDurability: 'server' | 'replicated';
  readonly port: number;
  readonly publicUrl: string;
  readonly panelUrl: string | null;
  readonly addressDelayHours: number;
  readonly breachedPasswordsUrl: string | null;
  readonly rates: 'live' | 'fixed';
  readonly metrics: { readonly port: number } | null;
  readonly legacyDeprecation: Date | null;
  readonly legacySunset: Date | null;
}

/** Values that simulate payments. */
const SIMULATED = [
  ['PROCESSOR', 'sandbox'],
  ['RATES', 'fixed'],
] as const;

/** Variables that are each valid, but not together. */
export function findConflicts(env: Environment, settings: Settings): string[] {
  const { metrics, port, environment, simulation } = settings;
  const problems: string[] = [];
  if (environment !== 'production' && !simulation) {
    for (const [name, value] of SIMULATED) {
      if (env[name] !== value) continue;
      problems.push(
        `${name} is "${value}", which simulates payments; on a database of your own that needs SIMULATION=on.`,
      );
    }
  }
  for (const name of ['DATABASE_DIRECT_URL', 'MIGRATION_DATABASE_URL']) {
    if (!env.DATABASE_URL && env[name]) {
      problems.push(`${name} is set without DATABASE_URL; set both.`);
    }
  }
  if (!env.DATABASE_URL && settings.databaseDurability === 'replicated') {
    problems.push(
      'DATABASE_DURABILITY is "replicated" without DATABASE_URL; the embedded database has no standby.',
    );
  }
  if (env.DATABASE_DIRECT_URL && (serverUrls(env.DATABASE_URL ?? '')?.length ?? 0) > 1) {
    problems.push(
      'DATABASE_URL names several servers and DATABASE_DIRECT_URL is set; a pooler follows the primary by itself, so name one pooler.',
    );
  }
  if (metrics?.port === port && port !== 0) {
    problems.push(`METRICS_PORT is ${port}, which is PORT; metrics need a port of their own.`);
  }
  if (!env.MASTER_KEY && env.MASTER_KEYS_PREVIOUS) {
    problems.push('MASTER_KEYS_PREVIOUS is set without MASTER_KEY; set both.');
  }
  if (env.SMTP_URL && !env.MAIL_FROM) {
    problems.push('SMTP_URL is set without MAIL_FROM; set both.');
  }
  if (env.SMTP_URL && settings.panelUrl === null) {
    problems.push('SMTP_URL is set without PANEL_URL; mail leads to the panel.');
  }
  if (env.PROCESSOR === 'stripe') {
    for (const name of ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET']) {
      if (!env[name]) problems.push(`${name} is not set, but PROCESSOR=stripe needs it.`);
    }
  }
  const { legacyDeprecation: deprecation, legacySunset: sunset } = settings;
  if (deprecation !== null && sunset !== null && sunset < deprecation) {
    // RFC 9745 §4.
    problems.push('LEGACY_SUNSET is before LEGACY_DEPRECATION; it must not be.');
  }
  return problems;
}

/** Settings for development that would lose money or payers, or count money that never moved, in production. */
export function findUnsafeInProduction(
  env: Environment,
  { publicUrl, panelUrl, breachedPasswordsUrl, rates }: Settings,
  stripeSecretKey: string | null,
): string[] {
  const problems: string[] = [];
  if (env.SIMULATION === 'on') {
    problems.push('SIMULATION is "on", but production never simulates payments.');
  }
  if (env.PROCESSOR === 'sandbox') {
    problems.push('PROCESSOR is "sandbox", which collects nothing; production needs stripe.');
  }
  if (stripeSecretKey?.includes('k_test_')) {
    problems.push('STRIPE_SECRET_KEY is a test key; production needs sk_live_… or rk_live_….');
  }
  if (env.STRIPE_API_URL) {
    problems.push('STRIPE_API_URL is set, but production uses only Stripe itself.');
  }
  if (!env.DATABASE_URL) problems.push('DATABASE_URL is not set, but production needs it.');
  if (!env.PUBLIC_URL) {
    problems.push(
      'PUBLIC_URL is not set, but production needs it: the base URL at which customers reach the service.',
    );
  } else if (publicUrl.startsWith('http:')) {
    problems.push(
      'PUBLIC_URL is an http URL, but production needs https: whoever is between could show customers another address.',
    );
  }
  if (panelUrl?.startsWith('http:')) {
    problems.push(
      'PANEL_URL is an http URL, but production needs https: it is where people sign in.',
    );
  }
  if (breachedPasswordsUrl?.startsWith('http:')) {
    problems.push('BREACHED_PASSWORDS_URL is an http URL, but production needs https.');
  }
  if (rates === 'fixed') problems.push('RATES is "fixed", but production needs live.');
  if (!env.MASTER_KEY) {
    problems.push(
      'MASTER_KEY is not set, but production needs it: 32 bytes in base64 (openssl rand -base64 32).',
    );
  }
  return problems;
}

/** Warnings that a process logs at its start, about settings that are allowed but risky. */
export function findWarnings({
  environment,
  simulation,
  panelUrl,
  addressDelayHours,
}: Pick<Settings, 'environment' | 'simulation' | 'panelUrl' | 'addressDelayHours'>): string[] {
  const warnings: string[] = [];
  if (simulation) {
    warnings.push('SIMULATION is on: payments can be marked as paid without money');
  }
  if (environment === 'production' && panelUrl !== null && addressDelayHours === 0) {
    warnings.push(
      'PANEL_ADDRESS_DELAY_HOURS is 0: whoever gets into an account of the panel changes at once where its money goes',
    );
  }
  return warnings;
}
