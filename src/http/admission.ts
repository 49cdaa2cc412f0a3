import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Gauge } from 'prom-client';
import { ApiError } from '#errors/api-error.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Which limits count the request as in flight: none, the replica's, or also that of its key. */
    place: 'none' | 'replica' | 'key';
  }
}

/** Retry-After of the E5002 for an overload, in seconds. */
export const OVERLOAD_RETRY_SECONDS = 1;
/**
 * Once more than half of all places are taken (`BUSY`), a key gets at most a quarter of them (`KEY_SHARE`). A quarter
 * is enough to keep a replica busy, and the other half is left to the other keys.
 */
const KEY_SHARE = 1 / 4;
const BUSY = 1 / 2;
/** Longest wait of a new connection for a place, in milliseconds: a refusal must come within a second. */
export const HOLD_MS = 500;

new Gauge({
  name: 'eps_http_requests_in_flight',
  help: 'Signed requests in flight: being worked on, without a response yet',
  collect() {
    this.set(inFlight);
  },
});
/** Requests in flight in all `Admission`s of this process. */
let inFlight = 0;
const overloadRefusals = new Counter({
  name: 'eps_http_requests_overloaded_total',
  help: 'Signed requests refused with E5002 because too many were in flight, by whose limit was reached: that of the replica or that of a key',
  labelNames: ['limit'],
});

/**
 * Limits how many requests this process works on at once. Above what it can serve, more concurrency
 * only makes every response later; requests above the limit get E5002 with Retry-After at once.
 */
export class Admission {
  readonly #max: number;
  readonly #keyShare: number;
  readonly #busy: number;
  #taken = 0;
  /** New connections that are not read yet, oldest first. */
  readonly #held = new Set<Socket>();
  readonly #placesOfKey = new Map<string, number>();

  /** @param max Most requests in flight. */
  constructor(max: number) {
    this.#max = max;
    this.#keyShare = Math.ceil(max * KEY_SHARE);
    this.#busy = Math.ceil(max * BUSY);
  }

  /**
   * Refuses a request while the limit is reached, before any work is done for it.
   * @throws ApiError E5002
   */
  refuseOverload(): void {
    if (this.#taken >= this.#max) {
      refuse('replica', 'The service is overloaded; nothing was executed.');
    }
  }

  /**
   * Counts a request as in flight until its response is ready or its client is gone. Call it once the body has
   * arrived: a client that sends or reads slowly must not occupy a place.
   * @throws ApiError E5002
   */
  enter(request: FastifyRequest, { raw: response }: FastifyReply): void {
    // The client is gone: `close` was emitted already and will not be again.
    if (response.destroyed) return;
    this.refuseOverload();
    request.place = 'replica';
    this.#taken += 1;
    inFlight += 1;
    response.on('close', () => this.#leave(request));
  }

  /**
   * Counts an admitted request against the share of its key. Call it once the signature is verified: knowing a key ID
   * must not be enough to use up the key's share.
   * @throws ApiError E5002 while the key has its whole share in flight and the replica is busy.
   */
  countKey(request: FastifyRequest): void {
    const { keyId, place } = request;
    if (place !== 'replica' || keyId === null) return;
    const places = this.#placesOfKey.get(keyId) ?? 0;
    // `#taken` already includes this request.
    if (places >= this.#keyShare && this.#taken > this.#busy) {
      refuse('key', 'Too many requests of this key are in flight; nothing was executed.');
    }
    request.place = 'key';
    this.#placesOfKey.set(keyId, places + 1);
  }

  /**
   * Does not read new connections while every place is taken. Otherwise clients that reconnect after each refusal
   * would keep the process busy refusing them.
   * @param holdMs Longest wait of a connection, in milliseconds.
   */
  holdConnections(app: FastifyInstance, holdMs = HOLD_MS): void {
    // Requests on held connections still get responses before the server closes.
    app.addHook('preClose', async () => this.#readHeld(this.#held.size));
    app.server.on('connection', socket => {
      if (this.#taken < this.#max) return;
      this.#held.add(socket);
      // After Node's HTTP server, which starts to read at the end of this tick.
      process.nextTick(() => this.#held.has(socket) && socket.pause());
      setTimeout(() => this.#read(socket), holdMs).unref();
    });
  }

  #read(socket: Socket): void {
    if (this.#held.delete(socket)) socket.resume();
  }

  #readHeld(most: number): void {
    let left = most;
    for (const socket of this.#held) {
      if (left-- <= 0) return;
      this.#read(socket);
    }
  }

  /** Frees a request's place as soon as its response is ready, before the client has read it. */
  releaseWhenReady(app: FastifyInstance): void {
    app.decorateRequest('place', 'none');
    app.addHook('onSend', (request, _reply, payload, done) => {
      this.#leave(request);
      done(null, payload);
    });
  }

  #leave(request: FastifyRequest): void {
    const { keyId, place } = request;
    if (place === 'none') return;
    request.place = 'none';
    this.#taken -= 1;
    inFlight -= 1;
    // Reads one connection per free place, not just one: a client may be gone, or send nothing.
    if (this.#held.size > 0) this.#readHeld(this.#max - this.#taken);
    if (place === 'replica' || keyId === null) return;
    const places = this.#placesOfKey.get(keyId) ?? 0;
    if (places > 1) this.#placesOfKey.set(keyId, places - 1);
    else this.#placesOfKey.delete(keyId);
  }
}

function refuse(limit: 'replica' | 'key', message: string): never {
  overloadRefusals.inc({ limit });
  throw new ApiError('E5002', message, { retryAfterSeconds: OVERLOAD_RETRY_SECONDS });
}
