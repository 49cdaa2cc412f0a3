import { expect, test } from 'vitest';
import { FinalPolls } from '#onchain/watching/loop/final-polls.ts';

const at = (seconds: number) => new Date(seconds * 1_000);
const ever = at(1_000_000);

function pollsAt(...polls: readonly (readonly [seconds: number, height: number])[]): FinalPolls {
  const found = new FinalPolls();
  for (const [seconds, height] of polls) found.add({ polled_at: at(seconds), head_height: height });
  return found;
}

test('time is covered up to the last poll whose blocks are all final', () => {
  const polls = pollsAt([3, 110], [6, 117], [9, 125], [15, 140]);
  expect(new FinalPolls().find(100, ever)).toBeUndefined();
  expect(polls.find(109, ever)).toBeUndefined();
  expect(polls.find(117, ever)?.at).toEqual(at(6));
  expect(polls.find(124, ever)?.at).toEqual(at(6));
  expect(polls.find(140, ever)?.at).toEqual(at(15));
  expect(polls.find(null, ever)).toBeUndefined();
});

test('a poll later than the given time does not count', () => {
  const polls = pollsAt([3, 110], [6, 117], [9, 125]);
  expect(polls.find(200, at(9))?.at).toEqual(at(9));
  expect(polls.find(200, new Date(8_999))?.at).toEqual(at(6));
  expect(polls.find(200, at(2))).toBeUndefined();
});

test('a height learned after a poll does not count as shown by that poll', () => {
  // The next look was aborted, so the time of the last poll has stayed.
  expect(pollsAt([3, 110], [3, 120]).find(110, ever)?.at).toEqual(at(3));
});

test('while nothing becomes final, the polls of a day are not all kept', () => {
  const polls = new FinalPolls();
  for (let second = 0; second <= 24 * 60 * 60; second += 3) {
    polls.add({ polled_at: at(second), head_height: second });
  }
  expect(polls.find(86_000, ever)?.at).toEqual(at(85_998));
  expect(polls.find(83_000, ever)).toBeUndefined();
});

test('polls in the future, by a clock that was wrong, cover nothing', () => {
  const polls = pollsAt([10, 100], [3_610, 110], [13, 120]);
  expect(polls.find(200, at(12))?.at).toEqual(at(10));
  expect(polls.find(200, at(15))?.at).toEqual(at(13));
});
