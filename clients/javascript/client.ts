import { randomUUID } from 'node:crypto';
import type { Blockchain } from '#schemas/blockchain.ts';
import type { CreatePaymentBody, CreatePaymentResponse } from '#schemas/create-payment.ts';
import type { ListEventsQuery } from '#schemas/list-events.ts';
import type { ListPaymentsQuery, PaymentList } from '#schemas/list-payments.ts';
import type { PaymentObject } from '#schemas/payment.ts';
import type {
  AdvanceClockBody,
  SimulatePaymentBody,
  SimulationResult,
} from '#schemas/simulate-payment.ts';
import { PaymentsApiError } from './errors.ts';
import { type EventList, type EventsQuery, type RecordedEvent, walkEvents } from './events.ts';
import type { ApiRequest, ApiResponse } from './exchange.ts';
import { send, TRANSPORT_DEFAULTS, type Transport } from './send.ts';
import { readServiceAddress } from './service-address.ts';
import type { Credentials } from './sign.ts';

export interface ClientOptions
  extends Credentials,
    Partial<Omit<Transport, 'service' | 'credentials'>> {
  /**
   * Scheme and host of the service, for example `https://payments.example.com`. A path is the prefix
   * under which a proxy publishes the service: it is part of requests, but not of signatures.
   */
  readonly baseUrl: string;
}

/**
 * The API for the server of a merchant or a partner. Except `request`, every call throws PaymentsApiError
 * when the response is an error. Every call throws PaymentsConnectionError when there is no response.
 */
export interface PaymentsClient {
  /**
   * Creates a payment. By default a random idempotency key protects the retries of this call. Pass your
   * order's ID to be protected across calls and restarts too.
   */
  createPayment(
    payment: CreatePaymentBody,
    options?: { idempotencyKey?: string },
  ): Promise<CreatePaymentResponse>;
  /** Throws PaymentsApiError with the errorCode E3001 when there is no such payment. */
  getPayment(id: string): Promise<PaymentObject>;
  /** One page, newest first. */
  listPayments(query?: ListPaymentsQuery): Promise<PaymentList>;
  /**
   * All matching payments, newest first. A page is fetched when its first payment is read. `limit` is the
   * page size, not the number of payments.
   */
  payments(query?: Omit<ListPaymentsQuery, 'endingBefore'>): AsyncGenerator<PaymentObject>;
  /** Throws PaymentsApiError with the errorCode E3001 when there is no such event. */
  getEvent(id: string): Promise<RecordedEvent>;
  /** One page, newest first unless `order` is `oldest`. */
  listEvents(query?: ListEventsQuery): Promise<EventList>;
  /**
   * All matching events from a minute before `after`, oldest first; ends with the newest. To miss none, keep
   * the ID of the last event that you processed, and pass it as `after` the next time. The events of the
   * minute before it are returned again, since events do not become readable in exact order: act only once on
   * each `id`, as for webhooks.
   * Throws PaymentsApiError with the errorCode E3001 when the event in `after` is no longer kept, and
   * TypeError when `after` is neither an ID nor a time.
   */
  events(query?: EventsQuery): AsyncGenerator<RecordedEvent, void, undefined>;
  activeBlockchains(): Promise<Blockchain[]>;
  /**
   * Plays what a customer and a chain do, on a payment of a test merchant. Throws PaymentsApiError with the errorCode
   * E1040 for a case that the payment's state does not allow, and E2008 with a key of a live merchant.
   */
  simulatePayment(id: string, played: SimulatePaymentBody): Promise<SimulationResult>;
  /** Moves the time of a test merchant's payment forward; throws as `simulatePayment` does. */
  advanceClock(id: string, advance: AdvanceClockBody): Promise<SimulationResult>;
  /** Sends any signed request, with retries. Resolves with the last response, of any status. */
  request(request: ApiRequest): Promise<ApiResponse>;
}

const BASE = '/external/v1';
const PAGE_SIZE = 100;

/**
 * Creates a client for one API key.
 * @throws TypeError for an invalid baseUrl, timeoutMs or maxAttempts.
 */
export function createClient(options: ClientOptions): PaymentsClient {
  const { keyId, secret, passphrase, baseUrl } = options;
  const transport: Transport = {
    service: readServiceAddress(baseUrl),
    credentials: { keyId, secret, passphrase },
    timeoutMs: positive('timeoutMs', options.timeoutMs ?? TRANSPORT_DEFAULTS.timeoutMs),
    maxAttempts: positive('maxAttempts', options.maxAttempts ?? TRANSPORT_DEFAULTS.maxAttempts),
    now: options.now ?? TRANSPORT_DEFAULTS.now,
    sleep: options.sleep ?? TRANSPORT_DEFAULTS.sleep,
  };
  const request = (apiRequest: ApiRequest) => send(transport, apiRequest);

  async function call<T>(apiRequest: ApiRequest): Promise<T> {
    const response = await request(apiRequest);
    if (response.status < 200 || response.status > 299) throw new PaymentsApiError(response);
    try {
      return JSON.parse(response.body) as T;
    } catch {
      const message = `HTTP ${response.status} with a body that is not JSON`;
      throw new PaymentsApiError(response, message);
    }
  }

  const listPayments = (query: ListPaymentsQuery = {}) =>
    call<PaymentList>({ method: 'GET', path: `${BASE}/payments${toQueryString(query)}` });
  const getEvent = (id: string) =>
    call<RecordedEvent>({ method: 'GET', path: `${BASE}/events/${encodeURIComponent(id)}` });
  const listEvents = (query: ListEventsQuery = {}) =>
    call<EventList>({ method: 'GET', path: `${BASE}/events${toQueryString(query)}` });

  const play = (
    id: string,
    what: 'simulate' | 'clock',
    body: SimulatePaymentBody | AdvanceClockBody,
  ) =>
    call<SimulationResult>({
      method: 'POST',
      path: `${BASE}/test/payments/${encodeURIComponent(id)}/${what}`,
      body: JSON.stringify(body),
    });

  return {
    request,
    simulatePayment: (id, played) => play(id, 'simulate', played),
    advanceClock: (id, advance) => play(id, 'clock', advance),
    listPayments,
    getEvent,
    listEvents,
    events: (query = {}) => walkEvents({ getEvent, listEvents }, query),
    createPayment: (payment, { idempotencyKey = randomUUID() } = {}) =>
      call({
        method: 'POST',
        path: `${BASE}/payments/prompt`,
        body: JSON.stringify(payment),
        idempotencyKey,
      }),
    getPayment: id => call({ method: 'GET', path: `${BASE}/payments/${encodeURIComponent(id)}` }),
    activeBlockchains: () => call({ method: 'GET', path: `${BASE}/blockchains/active` }),
    async *payments(query = {}) {
      let page: PaymentList;
      let startingAfter = query.startingAfter;
      do {
        page = await listPayments({
          ...query,
          limit: query.limit ?? PAGE_SIZE,
          ...(startingAfter === undefined ? {} : { startingAfter }),
        });
        yield* page.data;
        startingAfter = page.data.at(-1)?.id;
      } while (page.hasMore && startingAfter !== undefined);
    },
  };
}

function positive(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new TypeError(`${name} must be a whole number above 0`);
}

function toQueryString(query: ListPaymentsQuery | ListEventsQuery): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}
