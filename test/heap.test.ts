import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const HEAP = new URL('../src/heap.ts', import.meta.url).href;
const SCRIPT = `
  const { letHeapGrow } = await import(${JSON.stringify(HEAP)});
  letHeapGrow();
  globalThis.alive = Array.from({ length: 1_000 }, () => Array.from({ length: 1_000 }, i => ({ i, all: [i] })));
  // What is measured first is not trusted much by V8 itself.
  gc();
  gc();`;

test('the heap may grow to twice what is alive before all of it is collected', () => {
  const trace = execFileSync(
    process.execPath,
    ['--expose-gc', '--trace-gc-nvp', '--input-type=module', '--eval', SCRIPT],
    { encoding: 'utf8' },
  );
  const last = trace.split('\n').findLast(line => line.includes('gc=mc')) ?? '';
  const megabytes = (name: string) =>
    Number(new RegExp(` ${name}=(\\d+)`).exec(last)?.[1]) / 1024 / 1024;
  const alive = megabytes('end_object_size');
  const limit = megabytes('old_gen_allocation_limit');
  expect(alive).toBeGreaterThan(70);
  // Left alone, V8 takes four times for a heap that was filled so fast. Young objects come on top.
  expect(limit).toBeGreaterThan(2 * alive);
  expect(limit).toBeLessThan(2 * alive + 90);
});
