import { type Instrument, Level, Tally, Timing } from './instruments.ts';

/**
 * Everything this process counts, for the process as a whole: that is what is scraped. Labels are
 * route templates, codes, networks and names of our own, so their number is bounded; nothing that
 * names a merchant, a customer or a key is ever one.
 */

/** From what the fastest read takes to what a client waits for at most. */
const REQUEST_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Up to the 15 seconds that an endpoint has. */
const ATTEMPT_BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
/** From an idle round to one that works off an outage. */
const LOOP_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export const httpRequests = new Tally({
  name: 'eps_http_requests_total',
  help: 'HTTP requests that have ended; error_code is empty for those without an error, status is 0 for clients that were gone before their answer',
  labelNames: ['method', 'route', 'status', 'error_code'],
});

export const httpRequestSeconds = new Timing(
  {
    name: 'eps_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer',
    labelNames: ['method', 'route'],
  },
  REQUEST_BOUNDS,
);

export const requestsInFlight = new Level({
  name: 'eps_http_requests_in_flight',
  help: 'Signed requests that are worked on now',
  labelNames: [],
});

export const overloadRefusals = new Tally({
  name: 'eps_http_requests_overloaded_total',
  help: 'Signed requests refused with E5002 because too many were worked on already',
  labelNames: [],
});

export const rateLimited = new Tally({
  name: 'eps_rate_limited_total',
  help: 'Requests refused with E9001, by what was counted: a key, an address, or an address on checkout pages',
  labelNames: ['client'],
});

export const unprotectedReads = new Tally({
  name: 'eps_unprotected_reads_total',
  help: 'Reads served without replay protection because the nonce store was down',
  labelNames: [],
});

export const idempotentReplays = new Tally({
  name: 'eps_idempotent_replays_total',
  help: 'Creations answered with the response kept under their idempotency key',
  labelNames: [],
});

export const paymentsCreated = new Tally({
  name: 'eps_payments_created_total',
  help: 'Payments created by this process, by flow',
  labelNames: ['flow'],
});

export const paymentMoves = new Tally({
  name: 'eps_payment_moves_total',
  help: 'Payments moved by this process, by the status they came to; detect and revert leave them pending',
  labelNames: ['move', 'status', 'flow', 'blockchain_id'],
});

export const webhookAttempts = new Tally({
  name: 'eps_webhook_attempts_total',
  help: 'Attempts at deliveries, by what became of the delivery and the class of the answer',
  labelNames: ['outcome', 'response'],
});

export const webhookAttemptSeconds = new Timing(
  {
    name: 'eps_webhook_attempt_duration_seconds',
    help: 'Time that an attempt at a delivery took',
    labelNames: [],
  },
  ATTEMPT_BOUNDS,
);

export const loopSuccess = new Level({
  name: 'eps_worker_loop_last_success_timestamp_seconds',
  help: 'When a loop of the worker last did its work, in Unix time',
  labelNames: ['loop'],
});

export const loopFailures = new Tally({
  name: 'eps_worker_loop_failures_total',
  help: 'Rounds of a loop that failed',
  labelNames: ['loop'],
});

export const loopSeconds = new Timing(
  {
    name: 'eps_worker_loop_duration_seconds',
    help: 'Time that a round of a loop took',
    labelNames: ['loop'],
  },
  LOOP_BOUNDS,
);

/** Where payments change, which is in every process. */
export const PAYMENT_COUNTS: readonly Instrument[] = [paymentsCreated, paymentMoves];

export const API_COUNTS: readonly Instrument[] = [
  httpRequests,
  httpRequestSeconds,
  requestsInFlight,
  overloadRefusals,
  rateLimited,
  unprotectedReads,
  idempotentReplays,
];

export const WORKER_COUNTS: readonly Instrument[] = [
  webhookAttempts,
  webhookAttemptSeconds,
  loopSuccess,
  loopFailures,
  loopSeconds,
];
