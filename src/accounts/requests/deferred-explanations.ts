import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SignedParts } from '#signing/canonical.ts';
import { type Explanation, explainMismatch } from '#signing/explain-mismatch.ts';
import type { MismatchHints } from '#signing/mistakes/mistake.ts';
import type { Clock } from '#time/clock.ts';
import type { CpuBudget } from '#time/cpu-budget.ts';

/** Pause between two explanations for a key, in milliseconds. */
export const KEY_PAUSE_MS = 10_000;

/** A wrong signature, and what is needed to explain it. */
export interface Mismatch {
  readonly secret: string;
  readonly parts: SignedParts;
  readonly signature: string;
  readonly hints: () => MismatchHints;
}

/** Finds the mistakes behind some of the wrong signatures, after their requests have been answered. */
export class DeferredExplanations {
  readonly #clock: Clock;
  readonly #budget: CpuBudget;
  readonly #onFailure: (error: unknown) => void;
  /** When a signature of a key was last explained, by key ID. Entries are kept for KEY_PAUSE_MS. */
  readonly #explained = new Map<string, number>();
  /** Whether an explanation is pending: its cost is known only once it has ended. */
  #isExplaining = false;

  /** @param onFailure Receives what an explanation throws, which must not end the process. */
  constructor(clock: Clock, budget: CpuBudget, onFailure: (error: unknown) => void) {
    this.#clock = clock;
    this.#budget = budget;
    this.#onFailure = onFailure;
  }

  /**
   * Explains a wrong signature in a later turn of the event loop.
   * @param take Called once: with the explanation, or at once with null if too many were explained just now.
   */
  explain(keyId: string, mismatch: Mismatch, take: (found: Explanation | null) => void): void {
    if (!this.#admits(keyId)) {
      take(null);
      return;
    }
    this.#isExplaining = true;
    setImmediate(() => {
      this.#isExplaining = false;
      take(this.#find(mismatch));
    });
  }

  /** Resolves once every admitted signature is explained. */
  async close(): Promise<void> {
    await nextTurn();
  }

  #find({ secret, parts, signature, hints }: Mismatch): Explanation | null {
    try {
      return this.#budget.spend(() => explainMismatch(secret, parts, signature, hints()));
    } catch (error) {
      this.#onFailure(error);
      return null;
    }
  }

  #admits(keyId: string): boolean {
    const now = this.#clock();
    for (const [key, at] of this.#explained) {
      if (now - at >= KEY_PAUSE_MS) this.#explained.delete(key);
    }
    if (this.#isExplaining || this.#explained.has(keyId)) return false;
    // Whoever knows key IDs must not use up the budget for explanations to people who are signed in.
    if (!this.#budget.has(false)) return false;
    this.#explained.set(keyId, now);
    return true;
  }
}
