import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SignedParts } from '#signing/canonical.ts';
import { type Explanation, explainMismatch } from '#signing/explain-mismatch.ts';
import type { MismatchHints } from '#signing/mistakes/mistake.ts';
import type { Clock } from '#time/clock.ts';
import type { ProcessorBudget } from '#time/processor-budget.ts';

/** Pause between two explanations for a key, in milliseconds. */
export const KEY_PAUSE_MS = 10_000;

/** A signature that is wrong, and what it may have been made with. */
export interface Mismatch {
  readonly secret: string;
  readonly parts: SignedParts;
  readonly signature: string;
  readonly hints: () => MismatchHints;
}

/** Finds the mistakes behind wrong signatures after their requests have been answered, a few of them. */
export class LaterExplanations {
  readonly #clock: Clock;
  readonly #budget: ProcessorBudget;
  readonly #onFailure: (error: unknown) => void;
  /** When a signature of a key was last explained, by the key's ID, for the length of a key's pause. */
  readonly #explained = new Map<string, number>();
  /** Whether one is under way: what it takes is known once it has ended. */
  #isExplaining = false;

  /** @param onFailure Called with what an explanation throws, which must not end the process. */
  constructor(clock: Clock, budget: ProcessorBudget, onFailure: (error: unknown) => void) {
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

  /** Ends once all that has been admitted is explained. */
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
    // Whoever knows key IDs must not use up what signed-in people are explained with.
    if (!this.#budget.has(false)) return false;
    this.#explained.set(keyId, now);
    return true;
  }
}
