import { createConfig, formatProblems, getTotals, lintFromString } from '@redocly/openapi-core';
import { buildInertApp } from './inert-app.ts';

/** Lints the OpenAPI document as the service serves it; part of `npm run check`. */
const app = await buildInertApp();
const { body } = await app.inject({ url: '/openapi.json' });
await app.close();
const config = await createConfig({ extends: ['recommended-strict'] });
const problems = await lintFromString({ source: body, absoluteRef: 'openapi.json', config });
const totals = getTotals(problems);
if (problems.length > 0) {
  formatProblems(problems, { format: 'stylish', totals, version: '', cwd: process.cwd() });
  process.exitCode = 1;
}
