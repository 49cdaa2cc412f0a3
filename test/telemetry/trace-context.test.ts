import { describe, expect, test } from 'vitest';
import { readTraceContext, traceHeaders, traceIdOf } from '#telemetry/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const SENT = `00-${TRACE}-${SPAN}-01`;

describe('traceparent', () => {
  test('keeps the trace, with a new parent each time', () => {
    const read = () => readTraceContext(SENT, undefined);
    expect(read()).toMatchObject({ traceId: TRACE, tracestate: null });
    const parents = [read(), read()].map(trace => {
      const [, parent] = /^00-4bf92f3577b34da6a3ce929d0e0e4736-([0-9a-f]{16})-01$/.exec(
        trace?.traceparent ?? '',
      ) ?? [undefined, undefined];
      return parent;
    });
    expect(parents).not.toContain(undefined);
    expect(new Set([SPAN, ...parents]).size).toBe(3);
    expect(traceIdOf(read()?.traceparent ?? null)).toBe(TRACE);
    expect(traceIdOf(null)).toBeNull();
  });

  test.each([
    ['00', '00'],
    ['01', '01'],
    ['03', '03'],
    ['ff', '03'],
  ])('propagates flags %s as %s', (sent, passed) => {
    const trace = readTraceContext(`00-${TRACE}-${SPAN}-${sent}`, undefined);
    expect(trace?.traceparent.slice(-2)).toBe(passed);
  });

  test.each([
    undefined,
    '',
    [SENT, SENT],
    `${SENT}, ${SENT}`,
    `${SENT} `,
    ` ${SENT}`,
    `${SENT}\n`,
    `${SENT}-00`,
    SENT.toUpperCase(),
    SENT.replace(/^00/, '01'),
    SENT.replace(/^00/, 'ff'),
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.slice(1)}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}0-01`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE.replace('4', 'g')}-${SPAN}-01`,
  ])('%j is as none', header => {
    expect(readTraceContext(header, 'vendor=1')).toBeNull();
  });
});

describe('tracestate', () => {
  const stateOf = (header: string | string[] | undefined) =>
    readTraceContext(SENT, header)?.tracestate;

  test.each([
    'rojo=00f067aa0ba902b7',
    'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
    'rojo=1 , congo=2',
    'rojo=1,,congo=2',
    'tenant@vendor=a b!~',
    '0tenant/x*y-z_@v=1',
    `a=${'x'.repeat(256)}`,
    Array.from({ length: 32 }, (_none, index) => `k${index}=v`).join(','),
  ])('%j is passed on as it is', header => {
    expect(stateOf(header)).toBe(header);
  });

  test.each([
    undefined,
    '',
    ' , ',
    'rojo',
    '=1',
    'rojo=',
    'Rojo=1',
    'rojo=1=2',
    'rojo=1,rojo=2',
    'rojo=ü',
    'rojo=\u0000',
    '1tenant=1',
    'a@b@c=1',
    `a=${'x'.repeat(257)}`,
    `a=${'x'.repeat(200)},b=${'x'.repeat(200)},c=${'x'.repeat(200)}`,
    Array.from({ length: 33 }, (_none, index) => `k${index}=v`).join(','),
    ['rojo=1', 'congo=2'],
    `rojo=mps_${'0123abcd'.repeat(8)}`,
  ])('%j is left out, and the trace is not', header => {
    expect(stateOf(header)).toBeNull();
  });
});

test('a trace is propagated in one or two headers, and without one there is none', () => {
  expect(traceHeaders(null)).toEqual({});
  expect(traceHeaders({ traceparent: null, tracestate: null })).toEqual({});
  expect(traceHeaders({ traceparent: SENT, tracestate: null })).toEqual({ traceparent: SENT });
  const both = { traceparent: SENT, tracestate: 'rojo=1' };
  expect(traceHeaders({ ...both })).toEqual(both);
});
