import { beforeEach, expect, test } from 'vitest';
import { type Circuit, createCircuit } from '#time/circuit.ts';

let now = 0;
let circuit: Circuit;

beforeEach(() => {
  now = 1_000_000;
  circuit = createCircuit({ clock: () => now, maximumFailures: 3, pauseMs: 10_000 });
});

function open(): void {
  circuit.failed();
  circuit.failed();
  expect(circuit.failed()).toBe(true);
}

test('consecutive failures open the circuit until the pause is over', () => {
  expect(circuit.failed()).toBe(false);
  expect(circuit.failed()).toBe(false);
  expect(circuit.isOpen()).toBe(false);
  expect(circuit.failed()).toBe(true);
  expect(circuit.isOpen()).toBe(true);
  now += 9_999;
  expect(circuit.isOpen()).toBe(true);
  now += 1;
  expect(circuit.isOpen()).toBe(false);
});

test('a success resets the count', () => {
  circuit.failed();
  circuit.failed();
  circuit.succeeded();
  circuit.failed();
  expect(circuit.failed()).toBe(false);
  expect(circuit.isOpen()).toBe(false);
});

test('after the pause one attempt suspends the others, and its failure starts the next pause', () => {
  open();
  now += 10_000;
  circuit.attempt();
  expect(circuit.isOpen()).toBe(true);
  now += 5_000;
  expect(circuit.failed()).toBe(true);
  now += 9_999;
  expect(circuit.isOpen()).toBe(true);
});

test('after the pause one success closes it', () => {
  open();
  now += 10_000;
  circuit.attempt();
  circuit.succeeded();
  expect(circuit.isOpen()).toBe(false);
});

test('a clock that is set back does not prolong the pause', () => {
  open();
  now -= 3_600_000;
  expect(circuit.isOpen()).toBe(false);
});
