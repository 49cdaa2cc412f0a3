import type { Reporter, TestModule } from 'vitest/node';

/** Longest that a test takes unless `LONG` says why it takes longer, in milliseconds. */
const BUDGET_MS = 3_000;
/** From here on a run fails: a busy machine does not make so much of a test within the budget. */
const FAILING_MS = 10_000;
/** How many of the slowest are told. */
const TOLD = 10;

/** Tests that may take longer, as the report names them, and why. */
export const LONG: Readonly<Record<string, string>> = {};

/** A test of a run. */
export interface TimedTest {
  /** Path of its file and its name, those of its suites included, joined by ` > `. */
  readonly name: string;
  readonly milliseconds: number;
}

/** What a report says of a run. */
export interface Judgement {
  readonly lines: readonly string[];
  readonly fails: boolean;
}

/**
 * Names the slowest tests of a run, those over the budget that have no reason to be, and reasons whose test is gone
 * from its file.
 */
export function judge(
  tests: readonly TimedTest[],
  reasons: Readonly<Record<string, string>> = LONG,
): Judgement {
  const slowest = tests.toSorted((a, b) => b.milliseconds - a.milliseconds);
  const over = slowest.filter(
    ({ name, milliseconds }) => milliseconds > BUDGET_MS && !Object.hasOwn(reasons, name),
  );
  const names = new Set(tests.map(({ name }) => name));
  const files = new Set(tests.map(({ name }) => fileOf(name)));
  const gone = Object.keys(reasons).filter(name => files.has(fileOf(name)) && !names.has(name));
  return {
    lines: [
      ...section('The slowest tests:', slowest.slice(0, TOLD).map(lineOf)),
      ...section(
        `Over ${BUDGET_MS / 1000} s, and not in test/budget.ts with a reason:`,
        over.map(lineOf),
      ),
      ...section('In test/budget.ts, and gone:', gone),
    ],
    fails: gone.length > 0 || over.some(({ milliseconds }) => milliseconds > FAILING_MS),
  };
}

const fileOf = (name: string) => name.split(' > ')[0] ?? '';

const lineOf = ({ name, milliseconds }: TimedTest) =>
  `${(milliseconds / 1000).toFixed(1).padStart(6)} s  ${name}`;

const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : [title, ...lines.map(line => `  ${line}`), ''];

/** Ends a run with what the judgement says. */
export const budgetReporter: Reporter = {
  onTestRunEnd(modules) {
    const { lines, fails } = judge(modules.flatMap(testsOf));
    process.stdout.write(`${lines.join('\n')}\n`);
    if (fails) process.exitCode = 1;
  },
};

function testsOf(module: TestModule): TimedTest[] {
  return [...module.children.allTests()].map(test => ({
    name: `${module.relativeModuleId} > ${test.fullName}`,
    milliseconds: test.diagnostic()?.duration ?? 0,
  }));
}
