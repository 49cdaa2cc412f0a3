import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type HashedReceipt, receiptsRoot } from '#chains/evm/receipts-root.ts';
import { runs } from '../../helpers/property-runs.ts';

/** The root of an empty trie: Keccak-256 of an empty string in RLP (`types.EmptyReceiptsHash` of go-ethereum). */
const EMPTY = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

const bytes = (minimum: number, maximum = minimum) =>
  fc
    .uint8Array({ minLength: minimum, maxLength: maximum })
    .map(each => `0x${Buffer.from(each).toString('hex')}`);
const log = fc.record({
  address: bytes(20),
  topics: fc.array(bytes(32), { maxLength: 4 }),
  data: bytes(0, 70),
});
const receipt: fc.Arbitrary<HashedReceipt> = fc.record({
  type: fc.oneof(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 5, max: 127 })),
  succeeded: fc.boolean(),
  cumulativeGasUsed: fc.integer({ min: 0, max: 60_000_000 }),
  logsBloom: fc
    .integer({ min: 0, max: 2 ** 31 - 1 })
    .map(bits => `0x${bits.toString(16).padStart(512, '0')}`),
  logs: fc.array(log, { maxLength: 3 }),
});
/** Some blocks have more receipts than one level of the trie holds, or a key of one byte. */
const receipts = fc.oneof(
  fc.array(receipt, { minLength: 1, maxLength: 20 }),
  fc.array(receipt, { minLength: 120, maxLength: 300 }),
);

test('an empty block has the root of an empty trie', () => {
  expect(receiptsRoot([])).toBe(EMPTY);
});

/** A list without one of its elements, with one doubled, or with two neighbours swapped. */
function changesOf<T>(list: readonly T[], at: number): T[][] {
  const [one, next] = [list[at] as T, list[at + 1]];
  return [
    list.toSpliced(at, 1),
    list.toSpliced(at, 0, one),
    ...(next === undefined || same(one, next) ? [] : [list.toSpliced(at, 2, next, one)]),
  ];
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The hex text with another digit at a place. */
function otherDigit(text: string, at: number): string {
  const place = 2 + (at % (text.length - 2));
  const digit = (Number.parseInt(text[place] ?? '0', 16) ^ 1).toString(16);
  return text.slice(0, place) + digit + text.slice(place + 1);
}

/** Logs with one part omitted, doubled, moved or changed. */
function changedLogs(logs: HashedReceipt['logs'], at: number): HashedReceipt['logs'][] {
  const place = at % Math.max(1, logs.length);
  const own = logs[place];
  if (own === undefined) return [[{ address: `0x${'00'.repeat(20)}`, topics: [], data: '0x' }]];
  const topic = at % Math.max(1, own.topics.length);
  const changed = [
    { ...own, address: otherDigit(own.address, at) },
    { ...own, data: `${own.data}00` },
    ...(own.data === '0x' ? [] : [{ ...own, data: otherDigit(own.data, at) }]),
    ...(own.topics.length === 0
      ? []
      : [
          { ...own, topics: own.topics.with(topic, otherDigit(own.topics[topic] ?? '', at)) },
          ...changesOf(own.topics, topic).map(topics => ({ ...own, topics })),
        ]),
  ];
  return [...changed.map(each => logs.with(place, each)), ...changesOf(logs, place)];
}

function changedReceipts(own: HashedReceipt, at: number): HashedReceipt[] {
  return [
    { ...own, type: (own.type + 1) % 128 },
    { ...own, succeeded: !own.succeeded },
    { ...own, cumulativeGasUsed: own.cumulativeGasUsed + 1 },
    { ...own, logsBloom: otherDigit(own.logsBloom, at) },
    ...changedLogs(own.logs, at).map(logs => ({ ...own, logs })),
  ];
}

test('any receipt, log, topic or byte that is left out, changed or moved changes the root', () => {
  fc.assert(
    fc.property(receipts, fc.nat(), (list, at) => {
      const place = at % list.length;
      const own = list[place] as HashedReceipt;
      const changed = [
        ...changedReceipts(own, at).map(each => list.with(place, each)),
        ...changesOf(list, place),
      ];
      const root = receiptsRoot(list);
      for (const other of changed) expect(receiptsRoot(other)).not.toBe(root);
      // Deep copies, to show that object identity does not matter.
      expect(receiptsRoot(structuredClone(list))).toBe(root);
    }),
    { numRuns: runs(40) },
  );
});
