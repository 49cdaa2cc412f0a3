import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/helpers/global-setup.ts'],
    // Real servers and real processes: slow is not wrong, but hanging is.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A second, which is what it waits otherwise, is too short for a busy machine.
    expect: { poll: { timeout: 10_000, interval: 10 } },
    maxWorkers: 3,
    // Importing the service takes longer than most tests, and no file changes what others import.
    isolate: false,
  },
});
