import { idlePause, type Loop } from './loop.ts';

export interface BatchLoopOptions {
  readonly name: string;
  readonly intervalMs: number;
  /** Pause while there is nothing to do, in milliseconds; `intervalMs` by default. */
  readonly idleMs?: number;
  /** Number of items in a full batch. */
  readonly size: number;
}

/** A loop that processes due work in batches. @param batch Resolves with how much it has done. */
export function batchLoop(
  { name, intervalMs, idleMs = intervalMs, size }: BatchLoopOptions,
  batch: () => Promise<number>,
): Loop {
  const pause = idlePause(intervalMs, idleMs);
  return {
    name,
    get intervalMs() {
      return pause.ms;
    },
    run: (signal, beat) =>
      workOff(size, signal, async () => {
        const done = await batch();
        if (done > 0) pause.worked();
        beat();
        return done;
      }),
  };
}

/** Repeats a batch until one is not full, or the signal is aborted. */
export async function workOff(
  size: number,
  signal: AbortSignal,
  batch: () => Promise<number>,
): Promise<void> {
  let done = size;
  while (done >= size && !signal.aborted) done = await batch();
}
