import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { budgetReporter } from './test/budget.ts';

const EVERYTHING = 'test/**/*.test.ts';
/** Parts that are run alone by `npm test -- --project NAME`; what is in none of these is of `service`. */
const PARTS = { browser: 'test/browser/', deployment: 'test/deployment/' };

const project = (name: string, include: string[], exclude: string[] = []) => ({
  extends: true as const,
  test: { name, include, exclude: [...configDefaults.exclude, ...exclude] },
});

/**
 * A worker runs files of one project alone, and the next project's files wait for a new one. So without a project to be
 * run alone all files are of one: what waits for processes and browsers runs beside what computes.
 */
const projects = process.argv.some(argument => argument.startsWith('--project'))
  ? [
      project(
        'service',
        [EVERYTHING],
        Object.values(PARTS).map(folder => `${folder}**`),
      ),
      ...Object.entries(PARTS).map(([name, folder]) => project(name, [`${folder}**/*.test.ts`])),
    ]
  : [project('all', [EVERYTHING])];

/** What share of the others the files of `PARTS` are spread among: each takes long, and none is to be the last. */
const SPREAD = 0.8;

/** Spreads the files of `PARTS`, which wait for much, evenly among the others. */
class Spread extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isOfPart = ({ moduleId }: TestSpecification) =>
      Object.values(PARTS).some(folder => moduleId.includes(`/${folder}`));
    const parts = sorted.filter(isOfPart);
    const others = sorted.filter(file => !isOfPart(file));
    const between = Math.floor((SPREAD * others.length) / Math.max(1, parts.length));
    const spread = parts.flatMap((file, index) => [
      file,
      ...others.slice(index * between, (index + 1) * between),
    ]);
    return [...spread, ...others.slice(parts.length * between)];
  }
}

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/global-setup.ts'],
    setupFiles: ['test/helpers/property-seed.ts'],
    reporters: ['default', budgetReporter],
    // Real servers and real processes: slow is not wrong, but hanging is.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A second, which is what it waits otherwise, is too short for a busy machine.
    expect: { poll: { timeout: 10_000, interval: 10 } },
    maxWorkers: 3,
    // Importing the service takes longer than most tests, and no file changes what others import.
    isolate: false,
    sequence: { sequencer: Spread },
    projects,
  },
});
