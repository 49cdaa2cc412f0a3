import { LOOK_BACK_MS } from '#client/events.ts';
import type { ListEventsQuery, PaymentsClient, RecordedEvent } from '#client/index.ts';

/** Maximum of a page of the API. */
const PAGE_SIZE = 100;

/**
 * Reads the events of a key's account as they become readable, each once. Memory is bounded by the events of
 * LOOK_BACK_MS. Only the times of events are used, so this machine's clock does not matter.
 */
export class EventFollower {
  readonly #client: Pick<PaymentsClient, 'listEvents'>;
  /** Time of the newest event that was read, in milliseconds since the epoch. */
  #newest: number | undefined;
  /** Events that the next read gets again: their times, by ID. */
  readonly #read = new Map<string, number>();
  /**
   * Where the next request begins: where the last read was interrupted, else LOOK_BACK_MS before the newest event.
   */
  #place: Pick<ListEventsQuery, 'startDate' | 'startingAfter'> = {};
  #requests = 0;

  constructor(client: Pick<PaymentsClient, 'listEvents'>) {
    this.#client = client;
  }

  /** Skips all events that exist already. */
  async begin(): Promise<void> {
    const { data } = await this.#client.listEvents({ limit: 1 });
    for (const event of data) this.#note(event);
    this.#lookBack();
    for await (const _ of this.next()) {
      // Reading an event notes it.
    }
  }

  /** How many requests the last read has made. */
  get requests(): number {
    return this.#requests;
  }

  /**
   * Events that have become readable since the last read, oldest first. After a failed request, the next read
   * continues from there.
   */
  async *next(): AsyncGenerator<RecordedEvent, void, undefined> {
    this.#requests = 0;
    for (let isLast = false; !isLast; ) {
      this.#requests += 1;
      const query = { order: 'oldest', limit: PAGE_SIZE, ...this.#place } as const;
      const { data, hasMore } = await this.#client.listEvents(query);
      for (const event of data) {
        if (this.#read.has(event.id)) continue;
        this.#note(event);
        yield event;
      }
      const last = data.at(-1);
      isLast = !hasMore || last === undefined;
      if (last !== undefined) this.#place = { startingAfter: last.id };
    }
    this.#lookBack();
  }

  #lookBack(): void {
    if (this.#newest === undefined) return;
    const from = this.#newest - LOOK_BACK_MS;
    this.#place = { startDate: new Date(from).toISOString() };
    for (const [id, at] of this.#read) if (at < from) this.#read.delete(id);
  }

  #note({ id, createdAt }: RecordedEvent): void {
    const at = Date.parse(createdAt);
    this.#read.set(id, at);
    this.#newest = Math.max(this.#newest ?? at, at);
  }
}

/** The body of an event's webhooks: the same bytes. */
export function webhookBodyOf({ deliveries: _not, ...event }: RecordedEvent): string {
  return JSON.stringify(event);
}
