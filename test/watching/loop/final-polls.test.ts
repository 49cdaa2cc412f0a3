import { expect, test } from 'vitest';
import { FinalPolls } from '../../../src/watching/loop/final-polls.ts';

const at = (seconds: number) => new Date(seconds * 1_000);
const LATER = at(90_000);
const poll = (seconds: number, height: number) => ({ polled_at: at(seconds), head_height: height });

test('time is covered up to the last poll of which everything is final', () => {
  const polls = new FinalPolls();
  expect(polls.reach({ polled_at: null, head_height: null }, 100, LATER)).toBeNull();
  expect(polls.reach(poll(3, 110), 101, LATER)).toBeNull();
  expect(polls.reach(poll(6, 117), 109, LATER)).toBeNull();
  expect(polls.reach(poll(9, 125), 117, LATER)).toEqual(at(6));
  expect(polls.reach(poll(12, 133), 124, LATER)).toEqual(at(6));
  expect(polls.reach(poll(15, 140), 140, LATER)).toEqual(at(15));
  expect(polls.reach(poll(18, 147), null, LATER)).toBeNull();
});

test('a height that came after a poll is not taken for what that poll has shown', () => {
  const polls = new FinalPolls();
  polls.reach(poll(3, 110), 90, LATER);
  // The look after it was broken off, and the time of the last poll has stayed.
  expect(polls.reach(poll(3, 120), 110, LATER)).toEqual(at(3));
});

test('while nothing becomes final, a day of polls is not kept', () => {
  const polls = new FinalPolls();
  for (let second = 0; second < 24 * 60 * 60; second += 3)
    polls.reach(poll(second, second), -1, LATER);
  expect(polls.reach(poll(86_400, 86_400), 86_000, LATER)).toEqual(at(85_998));
  expect(polls.reach(poll(86_403, 86_403), 83_000, LATER)).toBeNull();
});

test('what ends later than can be looked at now is not covered yet', () => {
  const polls = new FinalPolls();
  polls.reach(poll(10, 100), 200, LATER);
  polls.endBefore(at(20));
  expect(polls.until).toEqual(at(10));
  polls.endBefore(at(7));
  expect(polls.until).toEqual(new Date(6_999));
});

test('polls to come, by a clock that was wrong, cover nothing', () => {
  const polls = new FinalPolls();
  polls.reach(poll(10, 100), 200, at(12));
  expect(polls.reach(poll(3_610, 110), 200, at(15))).toEqual(at(10));
  // The clock was set back.
  expect(polls.reach(poll(13, 120), 200, at(9))).toBeNull();
  expect(polls.reach(poll(14, 130), 200, at(20))).toEqual(at(14));
});
