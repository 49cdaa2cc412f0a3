import { configDefaults, defineConfig } from 'vitest/config';
import { budgetReporter } from './test/budget.ts';

const EVERYTHING = 'test/**/*.test.ts';
/** Parts that are run alone by `npm test -- --project NAME`; what is in none of these is of `service`. */
const PARTS = {
  browser: ['test/browser/**'],
  deployment: ['test/deployment/**'],
};

const project = (name: string, include: string[], exclude: string[] = []) => ({
  extends: true as const,
  test: { name, include, exclude: [...configDefaults.exclude, ...exclude] },
});

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
    projects: [
      project('service', [EVERYTHING], Object.values(PARTS).flat()),
      ...Object.entries(PARTS).map(([name, folders]) =>
        project(
          name,
          folders.map(folder => `${folder}/*.test.ts`),
        ),
      ),
    ],
  },
});
