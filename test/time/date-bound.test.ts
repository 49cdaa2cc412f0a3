import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDateBound, toInclusiveEnd } from '#time/date-bound.ts';

const FIRST = Date.parse('0000-01-01T00:00:00.000Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');
const MINUTE_MS = 60_000;

const instants = fc.integer({ min: FIRST, max: LAST });
const two = (value: number) => String(value).padStart(2, '0');

test('an inclusive end is the last millisecond of a day, or the given instant', () => {
  expect(toInclusiveEnd('2026-05-17')?.toISOString()).toBe('2026-05-17T23:59:59.999Z');
  expect(toInclusiveEnd('2026-05-17T12:00:00Z')?.toISOString()).toBe('2026-05-17T12:00:00.000Z');
  expect(toInclusiveEnd('20260517')?.toISOString()).toBe('2026-05-17T23:59:59.999Z');
  expect(toInclusiveEnd('20260517T1200')?.toISOString()).toBe('2026-05-17T12:00:00.000Z');
  expect(toInclusiveEnd(undefined)).toBeUndefined();
});

test('reads every timestamp that the service writes', () => {
  fc.assert(
    fc.property(instants, at => {
      const text = new Date(at).toISOString();
      expect(parseDateBound(text)?.getTime()).toBe(at);
      expect(parseDateBound(text.toLowerCase())?.getTime()).toBe(at);
    }),
  );
});

/** Every way to write a local time: separators, omitted parts, a fraction, and a zone. */
const spellings = fc.record({
  at: fc.integer({ min: FIRST + 1440 * MINUTE_MS, max: LAST - 1440 * MINUTE_MS }),
  isBasic: fc.boolean(),
  precision: fc.constantFrom('minutes', 'seconds', 'fraction'),
  digits: fc.integer({ min: 1, max: 9 }),
  mark: fc.constantFrom('.', ','),
  offset: fc.integer({ min: -1439, max: 1439 }),
  zone: fc.constantFrom('none', 'Z', '+hh:mm', '+hhmm'),
  isLower: fc.boolean(),
});

test('accepts every way to write a calendar date-time', () => {
  fc.assert(
    fc.property(spellings, ({ at, isBasic, precision, digits, mark, offset, zone, isLower }) => {
      const minutes = zone.startsWith('+') ? offset : 0;
      const local = new Date(at + minutes * MINUTE_MS).toISOString();
      const [date = '', time = ''] = [local.slice(0, 10), local.slice(11, 19)];
      const fraction = local.slice(20, 23).padEnd(9, '0').slice(0, digits);
      const [hours, rest] = [two(Math.floor(Math.abs(minutes) / 60)), two(Math.abs(minutes) % 60)];
      const sign = minutes < 0 ? '-' : '+';
      const plain = (text: string) => (isBasic ? text.replaceAll(/[:-]/g, '') : text);
      const clock = plain(precision === 'minutes' ? time.slice(0, 5) : time);
      const finer = precision === 'fraction' ? mark + fraction : '';
      const zones = {
        none: '',
        Z: 'Z',
        '+hh:mm': `${sign}${hours}:${rest}`,
        '+hhmm': `${sign}${hours}${rest}`,
      };
      const text = `${plain(date)}T${clock}${finer}${zones[zone as keyof typeof zones]}`;
      const unit = { minutes: MINUTE_MS, seconds: 1000, fraction: 10 ** (3 - Math.min(digits, 3)) };
      const floor = unit[precision as keyof typeof unit];
      // The written instant is the earlier one, even before 1970.
      const expected = Math.floor(at / floor) * floor;
      expect(parseDateBound(isLower ? text.toLowerCase() : text)?.getTime(), text).toBe(expected);
    }),
    { numRuns: 2_000 },
  );
});

test('accepts a date alone as midnight UTC, only for existing days', () => {
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
        const basic = text.replaceAll('-', '');
        expect(parseDateBound(basic)).toEqual(parseDateBound(text));
        expect(toInclusiveEnd(basic)).toEqual(toInclusiveEnd(text));
      },
    ),
    { numRuns: 1_000 },
  );
});

test('keeps milliseconds and drops finer digits', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^\d{1,9}$/), fraction => {
      const date = parseDateBound(`2026-05-17T12:00:00.${fraction}Z`);
      expect(date?.getUTCMilliseconds()).toBe(Number(fraction.padEnd(3, '0').slice(0, 3)));
    }),
  );
});

test('never returns an invalid date', () => {
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
  '202601',
  '2026-0101',
  '202601-01',
  '2026/01/01',
  '2026-01-01Z',
  '2026-01-01T00',
  '2026-01-01T00Z',
  '2026-01-01T000000',
  '2026-01-01T00:0000',
  '20260101T00:00:00',
  '20260101000000',
  '2026-01-01T00:00.5Z',
  '2026-01-01T00:00:00+',
  '2026-01-01T00:00:00+01',
  '2026-01-01T24:00:00Z',
  '2026-01-01T23:60:00Z',
  '2026-01-01T23:59:60Z',
  '2026-01-01 00:00:00Z',
  '2026-01-01T00:00:00.Z',
  '2026-01-01T00:00:00.1234567890Z',
  '2026-01-01T00:00:00+24:00',
  '2026-01-01T00:00:00+01:60',
  '2026-01-01T00:00:00 01:00',
  ' 2026-01-01',
  '2026-01-01\n',
  '２０２６-01-01',
  'Thu, 01 Jan 2026 00:00:00 GMT',
  '2026-W01-1',
  '2026-W01',
  '2026W011',
  '2026-001',
  '2026001',
  '2026-W01-1T00:00:00Z',
  '2026-001T00:00:00Z',
])('refuses %j', text => {
  expect(parseDateBound(text)).toBeUndefined();
});
