import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

test('npm start and the image run the API with the same flags, which Node accepts', () => {
  const { scripts } = JSON.parse(read('package.json'));
  const [, command = ''] = /^CMD (.*)$/m.exec(read('Dockerfile')) ?? [];
  expect(`${JSON.parse(command).join(' ')} --with-worker`).toBe(scripts.start);
  expect(scripts.start).toMatch(/^node (--\S+ )+src\/server\.ts --with-worker$/);
});
