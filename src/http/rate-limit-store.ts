import type { FastifyRateLimitStore } from '@fastify/rate-limit';
import type { Clock } from '#time/clock.ts';

interface Window {
  readonly endsAt: number;
  count: number;
}

type Callback = Parameters<FastifyRateLimitStore['incr']>[1];

/**
 * Most clients that each limiter remembers, so that a flood of addresses takes bounded memory. The client
 * whose window began first is forgotten first.
 */
const CLIENTS_MAXIMUM = 20_000;

/**
 * Makes the store of @fastify/rate-limit: fixed windows in this process's memory, each beginning with
 * the first request of its client. Unlike the plugin's own store it follows an injected clock, and returns a
 * new object from each call: concurrent requests would otherwise read each other's counts.
 */
export function rateLimitStore(clock: Clock) {
  return class WindowStore implements FastifyRateLimitStore {
    readonly #windows = new Map<string, Window>();

    incr(client: string, callback: Callback, windowMs: number): void {
      const now = clock();
      const window = this.#current(client, now) ?? this.#begin(client, now + windowMs);
      window.count += 1;
      callback(null, { current: window.count, ttl: window.endsAt - now });
    }

    /** Reads a client's count without adding to it. */
    read(client: string, callback: Callback, windowMs: number): void {
      const now = clock();
      const { endsAt, count } = this.#current(client, now) ?? { endsAt: now + windowMs, count: 0 };
      callback(null, { current: count, ttl: endsAt - now });
    }

    /** Each limiter counts by itself. */
    child(): WindowStore {
      return new WindowStore();
    }

    #begin(client: string, endsAt: number): Window {
      const window = { endsAt, count: 0 };
      // Deleted first, so that it becomes the last one.
      this.#windows.delete(client);
      this.#windows.set(client, window);
      if (this.#windows.size > CLIENTS_MAXIMUM) {
        const [oldest = ''] = this.#windows.keys();
        this.#windows.delete(oldest);
      }
      return window;
    }

    #current(client: string, now: number): Window | undefined {
      const window = this.#windows.get(client);
      return window !== undefined && now < window.endsAt ? window : undefined;
    }
  };
}
