/** Answers what is asked, in the order of the questions. */
type Answer<Q, A> = (questions: readonly Q[]) => Promise<readonly A[]>;

interface Asked<Q, A> {
  readonly question: Q;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
}

/** Most questions of one call, unless told otherwise. */
const MAXIMUM = 100;

/**
 * Puts what is asked within one turn of the event loop into one call.
 *
 * The busier a process is, the more requests arrive in a turn, and the less each costs: of the time
 * that a read by ID or a nonce takes, most is a message to another process and its answer, whatever is
 * in it. A question that is alone is asked at the end of its turn, microseconds later.
 *
 * A call that fails fails all that is in it.
 *
 * @param maximum Most questions of one call.
 */
export function gather<Q, A>(answer: Answer<Q, A>, maximum = MAXIMUM): (question: Q) => Promise<A> {
  let asked: Asked<Q, A>[] = [];

  async function ask(batch: readonly Asked<Q, A>[]): Promise<void> {
    try {
      const answers = await answer(batch.map(({ question }) => question));
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as A);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  function askAll(): void {
    const batch = asked;
    asked = [];
    for (let from = 0; from < batch.length; from += maximum) {
      void ask(batch.slice(from, from + maximum));
    }
  }

  return question =>
    new Promise((resolve, reject) => {
      if (asked.length === 0) setImmediate(askAll);
      asked.push({ question, resolve, reject });
    });
}
