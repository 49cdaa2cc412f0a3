import type { ErrorCode } from '../errors/catalogue.ts';

/** Parts of the API, as the reference groups its operations. */
export const TAGS = {
  payments: {
    name: 'Payments',
    description: 'Create payments and read them back. Amounts are whole US cents.',
  },
  networks: { name: 'Networks', description: 'What the platform offers to pay with now.' },
  partners: {
    name: 'Partner reports',
    description:
      'What a partner may read of the merchants assigned to it. Amounts and volumes are US dollars.',
  },
  older: {
    name: 'Older contract',
    description: 'What came before v1. It still works; write nothing new against it.',
  },
  webhooks: { name: 'Webhooks', description: "What the service sends to a merchant's endpoint." },
} as const;

/** What the document says of a route beside its schemas and its access rule. */
export interface Operation {
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  /** One line without a full stop. */
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  /** Refusals of this route beside those that every route of its kind has. */
  readonly refusals?: readonly ErrorCode[];
  /** Whether it takes an Idempotency-Key. */
  readonly idempotent?: boolean;
  readonly example: OperationExample;
}

/** A request that works, and what comes of it. */
export interface OperationExample {
  /** Values of path parameters. */
  readonly params?: Readonly<Record<string, string>>;
  /** Values of query parameters; all of them go together. */
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
  readonly response: unknown;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Puts the route into the document; without it the route is none of the public API. */
    operation?: Operation;
  }
}
