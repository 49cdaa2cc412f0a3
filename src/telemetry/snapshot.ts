/** Reuses a reading for a while, so that scrapes cannot become a load. */
export function snapshotOf<T>(
  read: () => Promise<T>,
  lifetimeMs: number,
  now: () => number = () => performance.now(),
): () => Promise<T> {
  let latest: { readonly at: number; readonly value: Promise<T> } | undefined;
  return () => {
    if (latest === undefined || now() - latest.at >= lifetimeMs) {
      latest = { at: now(), value: read() };
    }
    return latest.value;
  };
}
