/** The middle of some durations. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** How long one call takes, in milliseconds. */
export async function timed(call: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await call();
  return performance.now() - start;
}

/**
 * Medians of calls measured side by side: rounds alternate between them, so that whatever else the
 * machine does falls on all alike. The first round warms caches and does not count.
 */
export async function sideBySide(
  calls: readonly (() => Promise<unknown>)[],
  { rounds, repeats }: { rounds: number; repeats: number },
): Promise<number[]> {
  const durations = calls.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, call] of calls.entries()) {
      for (let repeat = 0; repeat < repeats; repeat++) {
        const duration = await timed(call);
        if (round > 0) durations[index]?.push(duration);
      }
    }
  }
  return durations.map(median);
}

/** What was measured proves nothing: an answer was wrong, or something measured was not what it says. */
export class VoidRun extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'VoidRun';
  }
}

/** The middle of what two contenders reached in each round of one run, one divided by the other. */
export function medianRatio(values: readonly number[], base: readonly number[]): number {
  return median(values.map((value, round) => value / (base[round] ?? Number.NaN)));
}

export interface Finding {
  readonly subject: string;
  /** What was measured, as shown. */
  readonly measured: string;
  readonly ratio: number;
  /** `<=` or `>=` and the number that the ratio is held against; null for what is only told. */
  readonly goal: { readonly relation: '<=' | '>='; readonly value: number } | null;
}

/** Prints a table of findings, if there are any, and returns whether every goal is met. */
export function report(findings: readonly Finding[]): boolean {
  if (findings.length === 0) return true;
  const rows = findings.map(({ subject, measured, ratio, goal }) => {
    const cells = [subject, measured, ratio.toFixed(2)];
    if (goal === null) return { met: true, cells };
    const met = goal.relation === '<=' ? ratio <= goal.value : ratio >= goal.value;
    const verdict = met ? 'met' : 'MISSED';
    return { met, cells: [...cells, `${goal.relation} ${goal.value}`, verdict] };
  });
  const header = ['subject', 'measured', 'ratio', 'goal', ''];
  const lines = [header, ...rows.map(row => row.cells)];
  const widths = header.map((_, column) =>
    Math.max(...lines.map(line => (line[column] ?? '').length)),
  );
  for (const line of lines) {
    process.stdout.write(
      `${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`,
    );
  }
  return rows.every(row => row.met);
}
