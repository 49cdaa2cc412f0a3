import { describe, expect, test } from 'vitest';
import { readConfig } from '#config/config.ts';
import { problemsOf } from '../../helpers/config-problems.ts';

const STRIPE = {
  PROCESSOR: 'stripe',
  STRIPE_SECRET_KEY: 'sk_live_hunter2',
  STRIPE_WEBHOOK_SECRET: 'whsec_hunter2',
};
const PRODUCTION = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://h/d',
  PUBLIC_URL: 'https://pay.example.com',
  MASTER_KEY: Buffer.alloc(32).toString('base64'),
};

const processorOf = (env: Record<string, string>) => readConfig(env).processor;

describe('the processor', () => {
  test('is the sandbox in development and none in production unless it is named', () => {
    expect(processorOf({})).toEqual({ name: 'sandbox' });
    expect(processorOf({ NODE_ENV: 'test', PROCESSOR: 'sandbox' })).toEqual({ name: 'sandbox' });
    expect(processorOf(PRODUCTION)).toBeNull();
    expect(processorOf({ ...PRODUCTION, PROCESSOR: '' })).toBeNull();
  });

  test('is Stripe with its secrets', () => {
    const stripe = { name: 'stripe', secretKey: 'sk_live_hunter2', webhookSecret: 'whsec_hunter2' };
    expect(processorOf({ ...PRODUCTION, ...STRIPE })).toEqual({ ...stripe, apiUrl: null });
    expect(processorOf({ ...STRIPE, STRIPE_API_URL: 'http://127.0.0.1:12111/' })).toEqual({
      ...stripe,
      apiUrl: 'http://127.0.0.1:12111',
    });
  });

  test.each([
    ['PROCESSOR', { PROCESSOR: 'none' }, 'one of sandbox, stripe'],
    ['PROCESSOR', { ...PRODUCTION, PROCESSOR: 'sandbox' }, 'production needs stripe'],
    ['STRIPE_SECRET_KEY', { ...STRIPE, STRIPE_SECRET_KEY: '' }, 'PROCESSOR=stripe needs it'],
    ['STRIPE_WEBHOOK_SECRET', { ...STRIPE, STRIPE_WEBHOOK_SECRET: '' }, 'PROCESSOR=stripe needs'],
    ['STRIPE_SECRET_KEY', { ...STRIPE, STRIPE_SECRET_KEY: 'pk_live_hunter2' }, 'sk_'],
    ['STRIPE_WEBHOOK_SECRET', { ...STRIPE, STRIPE_WEBHOOK_SECRET: 'hunter2' }, 'whsec_'],
    ['STRIPE_API_URL', { ...STRIPE, STRIPE_API_URL: 'api.stripe.com' }, 'http or https URL'],
    [
      'STRIPE_SECRET_KEY',
      { ...PRODUCTION, ...STRIPE, STRIPE_SECRET_KEY: 'rk_test_hunter2' },
      'sk_live_',
    ],
    [
      'STRIPE_API_URL',
      { ...PRODUCTION, ...STRIPE, STRIPE_API_URL: 'https://h' },
      'only Stripe itself',
    ],
  ])('a wrong %s is named and no secret repeated', (name, env, takes) => {
    const problems = problemsOf(env);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`${name} is `);
    expect(problems[0]).toContain(takes);
    expect(problems[0]).not.toContain('hunter2');
  });
});
