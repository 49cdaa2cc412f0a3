interface HoldableClock {
  (): number;
  hold(): void;
  release(): void;
}

/** A monotonic clock in milliseconds that can be held; once released, it continues from where it stopped. */
export function holdableClock(): HoldableClock {
  // Tests may replace `performance.now` later; this keeps the original.
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
