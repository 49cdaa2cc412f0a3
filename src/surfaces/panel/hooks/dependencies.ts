import type { FastifyRequest } from 'fastify';
import type { IsBreached } from '#accounts/people/breached-passwords.ts';
import type { PasswordHashing } from '#accounts/people/password-hash.ts';
import type { RequestLogMode } from '#accounts/requests/stored-fields.ts';
import type { ApiError } from '#errors/api-error.ts';
import type { RateLimits } from '#http/rate-limit.ts';
import type { Processor } from '#payments/processor.ts';
import type { SandboxProcessor } from '#payments/processors/sandbox-processor.ts';
import type { Rates } from '#payments/rates/rate-source.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import type { CpuBudget } from '#time/cpu-budget.ts';
import type { PanelCookies } from './cookies.ts';

export interface PanelDependencies extends PasswordHashing {
  /** For sessions, and for changes. */
  readonly db: Database;
  /** For what pages show: a separate pool, so that the creation of payments keeps its connections. */
  readonly reports: Database;
  readonly clock: Clock;
  /** Whether a password was found in a breach. */
  readonly isBreached: IsBreached;
  /** For simulated payments, which choose a network. */
  readonly rates: Rates;
  /** Collects payments on US accounts of live merchants; null refuses to create them. */
  readonly processor: Processor | null;
  /** Collects those of test merchants. */
  readonly sandbox: SandboxProcessor;
  readonly limits: RateLimits;
  /** Processor time that all explanations of signatures share. */
  readonly explaining: CpuBudget;
  readonly cookies: PanelCookies;
  /** Base URL of the panel. */
  readonly panelUrl: string;
  /** Base URL of the API and the documentation. */
  readonly publicUrl: string;
  /** Whether people of the demo, who have neither password nor code, may sign in: never in production. */
  readonly admitsDemo: boolean;
  /** How long changes of where money goes wait before they take effect, in milliseconds. */
  readonly addressDelayMs: number;
  /** Whether payers may be redirected, and webhooks sent, to local hosts: never in production. */
  readonly allowsLoopback: boolean;
  /** Whether payments may be simulated. */
  readonly simulation: boolean;
  /** Whether the service sends mail to people. */
  readonly sendsMail: boolean;
  /** Which requests of API keys the request log keeps. */
  readonly requestsKept: RequestLogMode;
  readonly isUnavailable: (error: unknown) => boolean;
  /** Why a request has no route. */
  readonly explainUnknownRoute: (request: FastifyRequest) => ApiError;
}
