/**
 * The result of `work`, if it comes in time; otherwise the work goes on, and its result is discarded.
 * @param milliseconds Longest wait.
 * @throws The error of `late` when it takes longer.
 */
export async function within<T>(
  milliseconds: number,
  work: Promise<T>,
  late: () => Error,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), milliseconds);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
