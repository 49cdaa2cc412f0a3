import { within } from '#time/within.ts';

/** Pause between two writes, in milliseconds. */
const WRITE_EVERY_MS = 1_000;
/** Longest that shutdown waits for the last write, in milliseconds. */
const CLOSE_MS = 500;

/** Writes collected data once a second, so that no request waits for it. */
export class DeferredWrites {
  readonly #write: () => Promise<void>;
  readonly #onFailure: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** @param write Writes what has been collected. Not called again before it ends. */
  constructor(write: () => Promise<void>, onFailure: (error: unknown) => void) {
    this.#write = write;
    this.#onFailure = onFailure;
  }

  /** Schedules a write within a second, or once the writes before it have ended. */
  begin(): void {
    this.#timer ??= setTimeout(() => void this.flush(), WRITE_EVERY_MS);
  }

  /** Writes what has been collected, after the writes before it. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(this.#write).catch(this.#onFailure);
    return this.#writing;
  }

  /** Writes what has been collected, for at most half a second: an unreachable database must not hold up shutdown. */
  async close(): Promise<void> {
    const late = () => new Error('the database does not respond');
    await within(CLOSE_MS, this.flush(), late).catch(this.#onFailure);
  }
}
