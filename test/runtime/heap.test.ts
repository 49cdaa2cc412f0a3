import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const HEAP = new URL('../../src/runtime/heap.ts', import.meta.url).href;
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

/** What a process whose earlier objects lived on allocates among the old ones for 20,000 that do not, in bytes. */
function allocatedOld(first: string): number {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    const { keepRequestsYoung } = await import(${JSON.stringify(HEAP)});
    ${first}
    const old = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space').space_used_size;
    const make = i => ({ i, parts: [i, [i, i], { i }] });
    const kept = [];
    for (let i = 0; i < 1_500_000; i++) kept.push(make(i));
    for (let i = 0; i < 3; i++) gc({ type: 'minor' });
    const before = old();
    let last;
    for (let i = 0; i < 20_000; i++) last = make(i);
    console.log(old() - before, kept.length, last.i);`;
  // Compiled in between, the function does not wait for a thread that has no processor.
  const flags = ['--expose-gc', '--no-concurrent-recompilation', '--input-type=module'];
  const output = execFileSync(process.execPath, [...flags, '--eval', script], { encoding: 'utf8' });
  return Number.parseInt(output, 10);
}

test('objects are allocated young, however long those before them lived', () => {
  expect(allocatedOld('')).toBeGreaterThan(1_000_000);
  expect(allocatedOld('keepRequestsYoung();')).toBeLessThan(100_000);
});
