import { expect, test } from 'vitest';
import { API_COUNTS, PAYMENT_COUNTS, WORKER_COUNTS } from '../../src/telemetry/counts.ts';
import { Level, Tally, Timing } from '../../src/telemetry/instruments.ts';

test('a tally counts each combination of labels by itself', () => {
  const tally = new Tally({ name: 'seen_total', help: 'Seen', labelNames: ['kind', 'size'] });
  expect(tally.samples()).toEqual([]);
  tally.add('cat', 'small');
  tally.add('cat', 'large');
  tally.add('cat', 'small');
  tally.add('small', 'cat');
  expect(tally.samples()).toEqual([
    { suffix: '', labels: { kind: 'cat', size: 'small' }, value: 2 },
    { suffix: '', labels: { kind: 'cat', size: 'large' }, value: 1 },
    { suffix: '', labels: { kind: 'small', size: 'cat' }, value: 1 },
  ]);
});

test('without labels there is a zero from the start, so that the first step is seen', () => {
  const tally = new Tally({ name: 'seen_total', help: 'Seen', labelNames: [] });
  expect(tally.samples()).toEqual([{ suffix: '', labels: {}, value: 0 }]);
  tally.add();
  expect(tally.samples()).toEqual([{ suffix: '', labels: {}, value: 1 }]);
});

test('a level goes up and down', () => {
  const level = new Level({ name: 'open', help: 'Open', labelNames: ['door'] });
  level.change(1, 'front');
  level.change(1, 'front');
  level.change(-1, 'front');
  level.set(7, 'back');
  expect(level.samples().map(({ value }) => value)).toEqual([1, 7]);
});

test('a timing says how many took no longer than each bound', () => {
  const timing = new Timing({ name: 'took_seconds', help: 'Took', labelNames: ['of'] }, [0.1, 1]);
  for (const seconds of [0.05, 0.1, 0.5, 3]) timing.observe(seconds, 'a');
  expect(timing.samples()).toEqual([
    { suffix: '_bucket', labels: { of: 'a', le: '0.1' }, value: 2 },
    { suffix: '_bucket', labels: { of: 'a', le: '1' }, value: 3 },
    { suffix: '_bucket', labels: { of: 'a', le: '+Inf' }, value: 4 },
    { suffix: '_sum', labels: { of: 'a' }, value: 3.65 },
    { suffix: '_count', labels: { of: 'a' }, value: 4 },
  ]);
});

test('nothing that names an account is a label', () => {
  const names = [...API_COUNTS, ...PAYMENT_COUNTS, ...WORKER_COUNTS].flatMap(
    ({ labelNames }) => labelNames,
  );
  expect(
    names.filter(name => /merchant|partner|key|account|payment|endpoint|id$/.test(name)),
  ).toEqual(['blockchain_id']);
});
