import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/helpers/global-setup.ts'],
    // Real servers and real processes: slow is not wrong, but hanging is.
    testTimeout: 20_000,
    hookTimeout: 60_000,
    maxWorkers: 3,
    // Importing the service takes longer than most tests, and no file changes what others import.
    isolate: false,
  },
});
