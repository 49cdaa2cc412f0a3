/** The value below which this share of the values lies; 0.5 is the median. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** How long one call takes, in milliseconds. */
export async function timed(call: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await call();
  return performance.now() - start;
}

/**
 * Median durations of several calls, in milliseconds. Rounds alternate between the calls, so that
 * other load on the machine affects all of them alike. The first round only warms caches.
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

/** The measurement proves nothing: a response was wrong, or the load was not the planned one. */
export class VoidRun extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'VoidRun';
  }
}

/** Median over the rounds of one run of `values` divided by `base`. */
export function medianRatio(values: readonly number[], base: readonly number[]): number {
  return median(values.map((value, round) => value / (base[round] ?? Number.NaN)));
}

export interface Finding {
  /** What was measured, with its unit unless it is a ratio. */
  readonly subject: string;
  /** Further figures, for the reader. */
  readonly measured: string;
  readonly value: number;
  /** null for a figure without a goal. */
  readonly goal: { readonly relation: '<=' | '>='; readonly value: number } | null;
}

/** Prints a table of findings, if there are any, and returns whether every goal is met. */
export function report(findings: readonly Finding[]): boolean {
  if (findings.length === 0) return true;
  const rows = findings.map(({ subject, measured, value, goal }) => {
    const cells = [subject, measured, value.toFixed(2)];
    if (goal === null) return { met: true, cells };
    const met = goal.relation === '<=' ? value <= goal.value : value >= goal.value;
    const verdict = met ? 'met' : 'MISSED';
    return { met, cells: [...cells, `${goal.relation} ${goal.value}`, verdict] };
  });
  const header = ['subject', 'measured', 'value', 'goal', ''];
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
