import type { ChangeFeed } from './change-feed.ts';

export interface Entry<V> {
  readonly value: V;
  /** IDs whose change makes the value out of date. */
  readonly subjects: readonly string[];
}

/** Changes in one tick that are applied one by one; more of them clear the whole cache. */
const CHANGES_LOOKED_AT = 100;

/** Stores a value, unless something has changed since `begin`. */
export type Keep<V> = (key: string, value: V, subjects: readonly string[]) => void;

/**
 * Caches what was read of accounts and networks until the change feed reports a change to it. While the
 * feed has no lease, it returns and stores nothing.
 */
export class FreshCache<V> {
  readonly #feed: ChangeFeed;
  readonly #maximum: number;
  readonly #entries = new Map<string, Entry<V>>();
  /** Changes in this tick. */
  #changes = 0;

  /** @param maximum Maximum number of entries; the oldest makes room. */
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

  /** Call it before reading the database. */
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

  /** The cached value, or else the one that `read` finds, which is then cached. */
  async read(key: string, read: () => Promise<Entry<V> | undefined>): Promise<V | undefined> {
    const held = this.get(key);
    if (held !== undefined) return held;
    const keep = this.begin();
    const entry = await read();
    if (entry !== undefined) keep(key, entry.value, entry.subjects);
    return entry?.value;
  }

  /** Whether this is one of a long series of changes, for which scanning all entries takes too long. */
  #areMany(): boolean {
    if (this.#changes === 0) {
      setImmediate(() => {
        this.#changes = 0;
      });
    }
    this.#changes += 1;
    return this.#changes > CHANGES_LOOKED_AT;
  }

  /** Changes are rare, so scanning all entries costs less than an index of subjects. */
  #forget(subject: string): void {
    for (const [key, { subjects }] of this.#entries) {
      if (subjects.includes(subject)) this.#entries.delete(key);
    }
  }
}
