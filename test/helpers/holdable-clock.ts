export interface HoldableClock {
  (): number;
  hold(): void;
  release(): void;
}

/** The monotonic clock, in milliseconds, that can be held: once released, it goes on from where it stood. */
export function holdableClock(): HoldableClock {
  // What `performance.now` is replaced by later must not be asked.
  const read = performance.now.bind(performance);
  let behind = 0;
  let heldAt: number | undefined;
  const clock = () => heldAt ?? read() - behind;
  return Object.assign(clock, {
    hold() {
      heldAt = clock();
    },
    release() {
      behind = read() - clock();
      heldAt = undefined;
    },
  });
}
