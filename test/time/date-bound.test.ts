import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDateBound, toInclusiveEnd } from '../../src/time/date-bound.ts';

const FIRST = Date.parse('0000-01-01T00:00:00.000Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');
const MINUTE_MS = 60_000;

const instants = fc.integer({ min: FIRST, max: LAST });
const two = (value: number) => String(value).padStart(2, '0');

test('an inclusive end is the last millisecond of a day, or the instant that is named', () => {
  expect(toInclusiveEnd('2026-05-17')?.toISOString()).toBe('2026-05-17T23:59:59.999Z');
  expect(toInclusiveEnd('2026-05-17T12:00:00Z')?.toISOString()).toBe('2026-05-17T12:00:00.000Z');
  expect(toInclusiveEnd(undefined)).toBeUndefined();
});

test('reads back every timestamp the service writes', () => {
  fc.assert(
    fc.property(instants, at => {
      const text = new Date(at).toISOString();
      expect(parseDateBound(text)?.getTime()).toBe(at);
      expect(parseDateBound(text.toLowerCase())?.getTime()).toBe(at);
    }),
  );
});

test('takes every offset', () => {
  const offsets = fc.integer({ min: -1439, max: 1439 });
  const within = fc.integer({ min: FIRST + 1440 * MINUTE_MS, max: LAST - 1440 * MINUTE_MS });
  fc.assert(
    fc.property(within, offsets, (at, minutes) => {
      const local = new Date(at + minutes * MINUTE_MS).toISOString().slice(0, -1);
      const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
      const text = `${local}${minutes < 0 ? '-' : '+'}${two(hours)}:${two(rest)}`;
      expect(parseDateBound(text)?.getTime()).toBe(at);
    }),
  );
});

test('takes a date alone as midnight UTC, for the days of the calendar only', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 9999 }),
      fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 32 }),
      (year, month, day) => {
        const text = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
        const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
        const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
        const exists = day >= 1 && day <= days;
        expect(parseDateBound(text)?.toISOString()).toBe(
          exists ? `${text}T00:00:00.000Z` : undefined,
        );
        expect(parseDateBound(`${text}T12:00:00Z`) === undefined).toBe(!exists);
      },
    ),
    { numRuns: 1_000 },
  );
});

test('keeps milliseconds and drops what is finer', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^\d{1,9}$/), fraction => {
      const date = parseDateBound(`2026-05-17T12:00:00.${fraction}Z`);
      expect(date?.getUTCMilliseconds()).toBe(Number(fraction.padEnd(3, '0').slice(0, 3)));
    }),
  );
});

test('never gives a date that is none', () => {
  const nearly = fc.stringMatching(/^[\d:TtZz. +-]{0,30}$/);
  fc.assert(
    fc.property(fc.oneof(nearly, fc.string()), text => {
      expect(parseDateBound(text)?.getTime()).not.toBeNaN();
    }),
  );
});

test.each([
  '',
  'now',
  '0',
  '1767225600',
  '2026',
  '2026-01',
  '2026-1-1',
  '26-01-01',
  '12026-01-01',
  '+02026-01-01',
  '-2026-01-01',
  '20260101',
  '2026/01/01',
  '2026-01-01Z',
  '2026-01-01T00:00:00',
  '2026-01-01T00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T23:60:00Z',
  '2026-01-01T23:59:60Z',
  '2026-01-01 00:00:00Z',
  '2026-01-01T00:00:00.Z',
  '2026-01-01T00:00:00.1234567890Z',
  '2026-01-01T00:00:00,1Z',
  '2026-01-01T00:00:00+0100',
  '2026-01-01T00:00:00+24:00',
  '2026-01-01T00:00:00+01:60',
  '2026-01-01T00:00:00 01:00',
  ' 2026-01-01',
  '2026-01-01\n',
  '２０２６-01-01',
  'Thu, 01 Jan 2026 00:00:00 GMT',
  '2026-W01-1',
])('refuses %j', text => {
  expect(parseDateBound(text)).toBeUndefined();
});
