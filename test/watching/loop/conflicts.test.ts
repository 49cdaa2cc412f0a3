import { expect, test } from 'vitest';
import type { UnsettledDeposit } from '../../../src/repositories/deposits/watched-deposits.ts';
import { findConflicts, spendingOf } from '../../../src/watching/loop/conflicts.ts';

/** A deposit of `child`, whose parent and grandparent were in the mempool as well. */
const deposit = {
  transaction_hash: 'child',
  inputs: ['parent:1', 'old:0'],
  ancestry: ['grandparent:0', 'older:4'],
} as unknown as UnsettledDeposit;

const conflictsWith = (...spent: [string, string][]) =>
  findConflicts([deposit], new Map(spent)).length > 0;

test('every output on which a deposit depends is of interest', () => {
  const alone = { ...deposit, inputs: null, ancestry: null };
  expect([...spendingOf([deposit, alone])]).toEqual([
    ...['parent:1', 'old:0', 'grandparent:0', 'older:4'],
  ]);
});

test('its own transaction and its ancestors do not undo it', () => {
  expect(conflictsWith(['parent:1', 'child'], ['old:0', 'child'])).toBe(false);
  expect(conflictsWith(['grandparent:0', 'parent'], ['older:4', 'grandparent'])).toBe(false);
  expect(conflictsWith()).toBe(false);
});

test('whoever else spends one of the outputs does', () => {
  for (const output of ['parent:1', 'old:0', 'grandparent:0', 'older:4']) {
    expect(conflictsWith([output, 'another'])).toBe(true);
  }
  // It made none of them, though its name begins like that of one that did.
  expect(conflictsWith(['old:0', 'par'])).toBe(true);
});
