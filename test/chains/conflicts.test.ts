import { expect, test } from 'vitest';
import { findConflicts } from '#chains/conflicts.ts';

/** Its parent and grandparent were in the mempool as well. */
const CHILD = {
  id: 'child',
  inputs: ['parent:1', 'old:0'],
  ancestry: ['grandparent:0', 'older:4'],
};

const conflictsWith = (...spent: [string, string][]) =>
  findConflicts([CHILD], new Map(spent)).has('child');

test('its own transaction and its ancestors do not undo it', () => {
  expect(conflictsWith(['parent:1', 'child'], ['old:0', 'child'])).toBe(false);
  expect(conflictsWith(['grandparent:0', 'parent'], ['older:4', 'grandparent'])).toBe(false);
  expect(conflictsWith(['elsewhere:0', 'another'])).toBe(false);
  expect(conflictsWith()).toBe(false);
});

test('any other transaction that spends one of the outputs does', () => {
  for (const output of ['parent:1', 'old:0', 'grandparent:0', 'older:4']) {
    expect(conflictsWith([output, 'another'])).toBe(true);
  }
  // It made none of them, although its ID begins like that of one that did.
  expect(conflictsWith(['old:0', 'par'])).toBe(true);
});

test('an output that no longer exists undoes it as well', () => {
  const generations = [
    { id: 'grandchild', inputs: ['child:0'] },
    { id: 'other', inputs: ['childless:0'] },
    CHILD,
    // It was in a block when the child was seen.
    { id: 'older', inputs: ['first:0'] },
  ];
  const undone = findConflicts(generations, new Map([['first:0', 'another']]));
  expect([...undone].toSorted()).toEqual(['child', 'grandchild', 'older']);
});

test('the others stay, including those of which nothing is known', () => {
  const other = { id: 'other', inputs: ['old:1'] };
  const unknown = { id: 'unknown', inputs: null };
  const undone = findConflicts([unknown, CHILD, other], new Map([['old:0', 'another']]));
  expect([...undone]).toEqual(['child']);
});
