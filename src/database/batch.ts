interface Waiting<Q, A> {
  readonly question: Q;
  readonly resolve: (answer: A | Promise<A>) => void;
  readonly reject: (error: unknown) => void;
}

/** Answers questions in their order; a promise among the answers settles its question alone. */
type Answer<Q, A> = (questions: readonly Q[]) => Promise<readonly (A | Promise<A>)[]>;

/**
 * Most questions of one batch, unless told otherwise. Larger batches leave the process idle while it
 * waits: in five alternating rounds with 64 concurrent requests, reads by ID were a tenth faster with
 * batches of 32 than without a limit, a twentieth with 16, and slower with 8.
 */
const MAXIMUM = 32;

/**
 * Batches what callers ask within one tick of the event loop into one query, or into several full
 * ones. Most of what a read by ID or a nonce costs is the message to another process and its answer,
 * so the busier a process is, the less each of them costs: without batches, reads by ID fall to 0.38
 * of their throughput.
 *
 * A full batch is sent at once, so that the other process starts on it; the rest is sent at the end of
 * the tick, microseconds later. A batch that fails fails every question in it.
 */
export function batch<Q, A>(answer: Answer<Q, A>, maximum = MAXIMUM): (question: Q) => Promise<A> {
  let waiting: Waiting<Q, A>[] = [];

  async function send(): Promise<void> {
    const sent = waiting;
    waiting = [];
    try {
      const answers = await answer(sent.map(({ question }) => question));
      for (const [index, { resolve }] of sent.entries()) resolve(answers[index] as A | Promise<A>);
    } catch (error) {
      for (const { reject } of sent) reject(error);
    }
  }

  function sendRest(): void {
    if (waiting.length > 0) void send();
  }

  return question =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(sendRest);
      waiting.push({ question, resolve, reject });
      if (waiting.length >= maximum) void send();
    });
}

/** Batches likewise, for each database apart. */
export function batchOn<D extends object, Q, A>(
  answer: (db: D, questions: readonly Q[]) => ReturnType<Answer<Q, A>>,
  maximum?: number,
): (db: D, question: Q) => Promise<A> {
  const batches = new WeakMap<D, (question: Q) => Promise<A>>();
  return (db, question) => {
    let ask = batches.get(db);
    if (ask === undefined) {
      ask = batch(questions => answer(db, questions), maximum);
      batches.set(db, ask);
    }
    return ask(question);
  };
}
