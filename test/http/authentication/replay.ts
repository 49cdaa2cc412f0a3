import { expect, test } from 'vitest';
import { expectRefusal } from '../../helpers/refusal.ts';
import type { Subject } from './battery.ts';

/** E2009. */
export function testReplay(subject: Subject): void {
  test('refuses the same request a second time', async () => {
    const nonce = crypto.randomUUID();
    subject.expectPassed(await subject.send({ nonce }));
    expectRefusal(await subject.send({ nonce }), 'E2009');
    // Even if freshly signed for another time.
    expectRefusal(await subject.send({ nonce, now: subject.service.clock() + 5000 }), 'E2009');
  });

  test('admits one of many concurrent requests', async () => {
    const nonce = crypto.randomUUID();
    const answers = await Promise.all(Array.from({ length: 8 }, () => subject.send({ nonce })));
    const [passed = [], refused = []] = [true, false].map(success =>
      answers.filter(({ statusCode }) => (statusCode === subject.route.success) === success),
    );
    expect(passed).toHaveLength(1);
    for (const answer of refused) expectRefusal(answer, 'E2009');
  });

  test('remembers a nonce for as long as its timestamp is accepted', async () => {
    const { clock } = subject.service;
    const now = clock.now + 300_000;
    const nonce = crypto.randomUUID();
    subject.expectPassed(await subject.send({ nonce, now }));
    clock.now += 600_000;
    expectRefusal(await subject.send({ nonce, now }), 'E2009');
    clock.now += 1000;
    expectRefusal(await subject.send({ nonce, now }), 'E2003');
  });

  test('accepts a nonce once from each key', async () => {
    const nonce = crypto.randomUUID();
    const other = await subject.newKey();
    subject.expectPassed(await subject.send({ nonce }));
    subject.expectPassed(await subject.send({ nonce }, other));
    expectRefusal(await subject.send({ nonce }, other), 'E2009');
  });

  test('does not use up the nonce of a request whose signature is wrong', async () => {
    const nonce = crypto.randomUUID();
    expectRefusal(await subject.send({ nonce, signed: { nonce: 'another' } }), 'E2007');
    subject.expectPassed(await subject.send({ nonce }));
  });
}
