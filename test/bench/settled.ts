/** @returns What tells whether a promise has settled, one way or the other, without waiting for it. */
export function watchSettling(promise: Promise<unknown>): () => boolean {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  return () => settled;
}
