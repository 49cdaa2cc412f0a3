import type { ChangeFeed } from './change-feed.ts';

export interface Entry<V> {
  readonly value: V;
  /** IDs whose change makes the value out of date. */
  readonly subjects: readonly string[];
}

/** Changes in one turn of the event loop that are looked at one by one; of more, all is forgotten. */
const CHANGES_LOOKED_AT = 100;

/** Keeps a value that was read, unless something changed since the reading began. */
export type Keep<V> = (key: string, value: V, subjects: readonly string[]) => void;

/**
 * What was read of accounts and networks, for as long as nothing of it has changed. While changes
 * are not heard of it is empty, and keeps nothing.
 */
export class FreshCache<V> {
  readonly #feed: ChangeFeed;
  readonly #maximum: number;
  readonly #entries = new Map<string, Entry<V>>();
  /** Changes in this turn of the event loop. */
  #changes = 0;

  /** @param maximum Entries kept at once; the one kept longest makes room. */
  constructor(feed: ChangeFeed, maximum: number) {
    this.#feed = feed;
    this.#maximum = maximum;
    feed.onChange(subject => {
      if (subject === null || this.#areMany()) this.#entries.clear();
      else this.#forget(subject);
    });
  }

  get(key: string): V | undefined {
    return this.#feed.isCurrent() ? this.#entries.get(key)?.value : undefined;
  }

  /** To be called before the database is read. */
  begin(): Keep<V> {
    const { generation } = this.#feed;
    const current = this.#feed.isCurrent();
    return (key, value, subjects) => {
      if (!current || this.#feed.generation !== generation) return;
      const [oldest] = this.#entries.keys();
      const full = this.#entries.size >= this.#maximum && !this.#entries.has(key);
      if (full && oldest !== undefined) this.#entries.delete(oldest);
      this.#entries.set(key, { value, subjects });
    };
  }

  /** The value kept under the key, or else the one that `read` finds. */
  async read(key: string, read: () => Promise<Entry<V> | undefined>): Promise<V | undefined> {
    const held = this.get(key);
    if (held !== undefined) return held;
    const keep = this.begin();
    const entry = await read();
    if (entry !== undefined) keep(key, entry.value, entry.subjects);
    return entry?.value;
  }

  /** Whether a change is one of a whole series, for which looking at every entry each time takes long. */
  #areMany(): boolean {
    if (this.#changes === 0) {
      setImmediate(() => {
        this.#changes = 0;
      });
    }
    this.#changes += 1;
    return this.#changes > CHANGES_LOOKED_AT;
  }

  /** Changes are rare: looking at every entry costs less than keeping an index of subjects. */
  #forget(subject: string): void {
    for (const [key, { subjects }] of this.#entries) {
      if (subjects.includes(subject)) this.#entries.delete(key);
    }
  }
}
