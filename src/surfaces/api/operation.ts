import type { ErrorCode } from '#errors/catalogue.ts';

/** Parts of the API, as the reference groups its operations. */
export const TAGS = {
  payments: {
    name: 'Payments',
    description: 'Create payments and read them back. Amounts are whole US cents.',
  },
  events: {
    name: 'Events',
    description: 'What has happened to payments, also while an endpoint was down.',
  },
  testing: {
    name: 'Testing',
    description: 'Play what customers and chains do, on payments of test merchants.',
  },
  networks: { name: 'Networks', description: 'The networks that the platform offers now.' },
  partners: {
    name: 'Partner reports',
    description:
      'Reports over the merchants assigned to a partner. Amounts and volumes are US dollars.',
  },
  older: {
    name: 'Older contract',
    description: 'The predecessor of v1. It still works, but do not start with it.',
  },
  webhooks: {
    name: 'Webhooks',
    description: "Events that the service sends to a merchant's endpoint.",
  },
} as const;

/** What the OpenAPI document says about a route, besides its schemas and its access rule. */
export interface Operation {
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  /** One line without a full stop. */
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  /** Errors of this route, in addition to those of every route of its kind. */
  readonly refusals?: readonly ErrorCode[];
  /** Whether it takes an Idempotency-Key. */
  readonly idempotent?: boolean;
  readonly example: OperationExample;
}

/** A request that works, and its response. */
interface OperationExample {
  /** Values of path parameters. */
  readonly params?: Readonly<Record<string, string>>;
  /** Values of query parameters, which can be combined. */
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
  readonly response: unknown;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Makes the route part of the public API and of its OpenAPI document. */
    operation?: Operation;
  }
}
