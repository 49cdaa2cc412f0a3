import { within } from '#time/within.ts';

/** Pause between two writes, in milliseconds. */
export const WRITE_EVERY_MS = 1_000;
/** Longest that shutdown waits for the last write, in milliseconds. */
const CLOSE_MS = 500;

/** Writes what gathers in memory once a second, so that no request waits for it. */
export class LaterWrites {
  readonly #write: () => Promise<void>;
  readonly #onFailure: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** @param write Takes what has gathered, and writes it. Called again only once it has ended. */
  constructor(write: () => Promise<void>, onFailure: (error: unknown) => void) {
    this.#write = write;
    this.#onFailure = onFailure;
  }

  /** There is something to write: it is written within a second, if the writes before it have ended. */
  begin(): void {
    this.#timer ??= setTimeout(() => void this.flush(), WRITE_EVERY_MS);
  }

  /** Writes what has gathered. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(this.#write).catch(this.#onFailure);
    return this.#writing;
  }

  /** Writes what has gathered, for at most half a second: an unreachable database must not hold up shutdown. */
  async close(): Promise<void> {
    const late = () => new Error('the database does not respond');
    await within(CLOSE_MS, this.flush(), late).catch(this.#onFailure);
  }
}
