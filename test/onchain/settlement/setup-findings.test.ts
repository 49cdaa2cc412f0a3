import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { SETUP_FINDINGS } from '#onchain/settlement/setup-findings.ts';

const FOLDER = resolve(import.meta.dirname, '../../../src/onchain/settlement');

test('every finding of the setup is made', () => {
  const files = ['first-payment.ts', 'network-steps.ts'];
  const source = files.map(file => readFileSync(resolve(FOLDER, file), 'utf8')).join('\n');
  const codes = Object.keys(SETUP_FINDINGS);
  expect(codes.filter(code => !source.includes(`['${code}'`))).toEqual([]);
});
