import { expect, test } from 'vitest';
import { expectRefusal } from '../../helpers/refusal.ts';
import type { Subject } from './battery.ts';

const HEADERS = [
  'x-mp-key-id',
  'x-mp-passphrase',
  'x-mp-timestamp',
  'x-mp-nonce',
  'x-mp-signature',
];

/** E2001, E2002 and E2003. */
export function testHeaders(subject: Subject): void {
  test('passes a valid request', async () => {
    const answer = await subject.send();
    subject.expectPassed(answer);
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each(HEADERS)('refuses a request without %s', async name => {
    for (const value of [undefined, '']) {
      const error = expectRefusal(await subject.send({ headers: { [name]: value } }), 'E2001');
      expect(error.message).toContain(name.toUpperCase());
    }
  });

  test.each([
    ['with a space', 'a b'],
    ['with a character above ASCII', 'caf\u00e9'],
    ['with a control character', 'a\x7f'],
    ['of 256 characters', 'n'.repeat(256)],
  ])('refuses a nonce %s', async (_name, nonce) => {
    const error = expectRefusal(await subject.send({ nonce }), 'E2001');
    expect(error.message).toContain('X-MP-NONCE');
  });

  test('passes nonces of 1 and of 255 visible characters', async () => {
    for (const nonce of ['~', '!'.repeat(255)]) {
      subject.expectPassed(await subject.send({ nonce }));
    }
  });

  test.each(['soon', '1e9', '1779019200.0', '+1779019200', '0x6a09', 'NaN', '1'.repeat(16)])(
    'refuses the timestamp %s, which is no integer',
    async timestamp => {
      expectRefusal(await subject.send({ headers: { 'x-mp-timestamp': timestamp } }), 'E2002');
    },
  );

  test.each([-300, 300])('passes a timestamp %i seconds away', async seconds => {
    subject.expectPassed(await subject.send({ now: subject.service.clock() + seconds * 1000 }));
  });

  test.each([
    [-301, 'behind'],
    [301, 'ahead of'],
  ])('refuses a timestamp %i seconds away', async (seconds, where) => {
    const now = subject.service.clock();
    const error = expectRefusal(await subject.send({ now: now + seconds * 1000 }), 'E2003');
    expect(error.message).toContain(`301 seconds ${where} the server's time ${now / 1000}`);
  });

  test('distinguishes a timestamp in milliseconds from a wrong clock', async () => {
    const milliseconds = subject.service.clock() * 1000;
    const error = expectRefusal(await subject.send({ now: milliseconds }), 'E2003');
    expect(error.message).toContain('milliseconds');
  });
}
