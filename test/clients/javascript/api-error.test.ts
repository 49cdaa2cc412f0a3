import { afterAll, beforeAll, expect, test } from 'vitest';
import { PaymentsApiError } from '#client/index.ts';
import {
  clientOf,
  type ScriptedServer,
  type Step,
  startScriptedServer,
} from './scripted-server.ts';

let server: ScriptedServer;

beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.close());

const client = () => clientOf(server);

async function errorOf(...steps: Step[]): Promise<PaymentsApiError> {
  server.script(...steps);
  const error = await client()
    .getPayment('1')
    .catch(thrown => thrown);
  expect(error).toBeInstanceOf(PaymentsApiError);
  return error;
}

test('an error carries the whole envelope', async () => {
  const error = {
    type: 'rate_limit_error',
    code: 'rate_limited',
    errorCode: 'E9001',
    message: 'Too many.',
    param: 'limit',
    docUrl: 'https://pay.test/docs/errors/E9001',
    userSafeMessage: true,
    requestId: 'r-1',
  };
  const headers = { 'x-mp-should-retry': 'true', 'retry-after': '7' };
  expect(await errorOf({ status: 429, headers, body: { error } })).toMatchObject({
    ...error,
    message: 'E9001: Too many.',
    detail: 'Too many.',
    name: 'PaymentsApiError',
    status: 429,
    retryable: true,
    retryAfterSeconds: 7,
  });
});

test.each([
  ['HTML', '<html>Bad gateway</html>'],
  ['nothing', ''],
  ['null', 'null'],
  ['a list', '[]'],
  ['text', '"no"'],
  ['the older contract', '{"statusCode":502,"message":"no","error":"Bad Gateway"}'],
  ['another error', '{"error":{"code":7,"message":{"en":"no"}}}'],
  ['no error', '{"error":null}'],
])('an error is created for any other body: %s', async (_name, body) => {
  const error = await errorOf({ status: 502, headers: { 'x-request-id': 'proxy-1' }, body });
  expect(error).toMatchObject({
    status: 502,
    message: 'HTTP 502',
    type: '',
    code: '',
    errorCode: '',
    param: undefined,
    requestId: 'proxy-1',
    userSafeMessage: false,
    retryable: false,
    retryAfterSeconds: undefined,
  });
});

test('a redirect is an error: a signed request is not sent elsewhere', async () => {
  const headers = { location: `${server.url}/elsewhere` };
  expect(await errorOf({ status: 302, headers })).toMatchObject({ status: 302 });
  expect(server.received).toHaveLength(1);
});

test('a success without JSON is an error', async () => {
  const error = await errorOf({ status: 200, body: '<html>Welcome to the hotel</html>' });
  expect(error).toMatchObject({ status: 200, errorCode: '' });
  expect(error.message).toContain('not JSON');
});
