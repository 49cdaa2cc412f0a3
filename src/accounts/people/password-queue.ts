import { ApiError } from '#errors/api-error.ts';

interface TurnLimits {
  /** Most that run at the same time. */
  readonly atOnce: number;
  /** Most that may wait, of all clients together. */
  readonly waiting: number;
}

interface Waiting {
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Limits work that occupies a core. A few tasks run at once; the others wait, in a queue for each client.
 * Clients take turns, so that one with a long queue delays another by a single turn.
 */
export class PasswordQueue {
  readonly #limits: TurnLimits;
  #running = 0;
  #waiting = 0;
  /** In the order of turns. No queue is empty. */
  readonly #queues = new Map<string, Waiting[]>();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /**
   * Runs `work` when it is the client's turn.
   * @param most Maximum waiting for this client.
   * @throws ApiError E5002 if too many wait, and what `work` throws.
   */
  async take<T>(client: string, most: number, work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.atOnce) this.#running += 1;
    else await this.#wait(client, most);
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #wait(client: string, most: number): Promise<void> {
    const own = this.#queues.get(client)?.length ?? 0;
    if (own >= most) throw tooMany();
    if (this.#waiting >= this.#limits.waiting) this.#refuseOneFor(own);
    return new Promise((begin, refuse) => {
      this.#waiting += 1;
      this.#queues.set(client, [...(this.#queues.get(client) ?? []), { begin, refuse }]);
    });
  }

  /** Makes room for a client with `own` waiting: refuses the last of the longest queue. */
  #refuseOneFor(own: number): void {
    const [longest] = [...this.#queues].toSorted(([, one], [, other]) => other.length - one.length);
    if (longest === undefined || longest[1].length <= own + 1) throw tooMany();
    const [client, queue] = longest;
    this.#queues.set(client, queue.slice(0, -1));
    this.#waiting -= 1;
    queue.at(-1)?.refuse(tooMany());
  }

  /** Gives the free slot to the next client in turn, if any waits. */
  #next(): void {
    for (const [client, [first, ...others]] of this.#queues) {
      // Moves the client behind all others.
      this.#queues.delete(client);
      if (others.length > 0) this.#queues.set(client, others);
      this.#waiting -= 1;
      first?.begin();
      return;
    }
    this.#running -= 1;
  }
}

function tooMany(): ApiError {
  return new ApiError('E5002', 'Too many people sign in at this moment.', { retryAfterSeconds: 2 });
}

/**
 * A hash takes 46 MiB and a core for about a tenth of a second: the last of sixty waits for three seconds
 * on two cores.
 */
const turns = new PasswordQueue({ atOnce: 2, waiting: 60 });

/** As many as a site may send in five minutes: `SIGN_INS` in `http/rate-limit.ts`. */
const SITE_WAITING = 20;
/** A person fills in one form at a time. */
const SESSION_WAITING = 2;

/** Runs work that hashes passwords, for a visitor who has not signed in, in the queue of their site. */
export function takeTurnOfSite<T>(site: string, work: () => Promise<T>): Promise<T> {
  return turns.take(`site ${site}`, SITE_WAITING, work);
}

/** The same for a session, in its own queue. */
export function takeTurnOfSession<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
  return turns.take(`session ${sessionId}`, SESSION_WAITING, work);
}
