import { configDefaults, defineConfig } from 'vitest/config';

/** Runs alone, before all others: it measures how soon a cluster takes writes again. */
const TIMED = 'test/deployment/failover.test.ts';

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/global-setup.ts'],
    setupFiles: ['test/helpers/property-seed.ts'],
    // Real servers and real processes: slow is not wrong, but hanging is.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A second, which is what it waits otherwise, is too short for a busy machine.
    expect: { poll: { timeout: 10_000, interval: 10 } },
    maxWorkers: 3,
    // Importing the service takes longer than most tests, and no file changes what others import.
    isolate: false,
    projects: [
      { extends: true, test: { name: 'timed', include: [TIMED], sequence: { groupOrder: 0 } } },
      {
        extends: true,
        test: {
          name: 'all others',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, TIMED],
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
