import { test } from 'vitest';
import { ROTATION_GRACE_MS, revokeKey, rotateKey } from '#accounts/keys/manage-keys.ts';
import { operatorOf } from '../../helpers/accounts.ts';
import { expectRefusal } from '../../helpers/refusal.ts';
import type { Subject } from './battery.ts';
import type { Account } from './subject.ts';

/** E2005, E2006 and rotation. */
export function testKeyLifecycle(subject: Subject): void {
  const rotate = async (account: Account, immediately = false): Promise<Account> => {
    const { service } = subject;
    const { keyId } = account.credentials;
    const credentials = await rotateKey(operatorOf(service), service.keyring, keyId, immediately);
    return { ...account, credentials };
  };

  test('refuses a revoked key at once, and for good', async () => {
    const account = await subject.newKey();
    subject.expectPassed(await subject.send({}, account));
    await revokeKey(operatorOf(subject.service), account.credentials.keyId);
    expectRefusal(await subject.send({}, account), 'E2005');
    expectRefusal(await subject.send({}, account), 'E2005');
  });

  test('refuses a key from the very millisecond at which it expires', async () => {
    const account = await subject.newKey();
    const { service } = subject;
    const setExpiry = (milliseconds: number) =>
      service.db
        .updateTable('api_keys')
        .set({ expires_at: new Date(milliseconds) })
        .where('id', '=', account.credentials.keyId)
        .execute();
    await setExpiry(service.clock() + 1);
    subject.expectPassed(await subject.send({}, account));
    await setExpiry(service.clock());
    expectRefusal(await subject.send({}, account), 'E2006');
  });

  test('accepts the previous pair for 24 hours, each pair with its own secret', async () => {
    const { service } = subject;
    const old = await subject.newKey();
    const renewed = await rotate(old);
    const rotated = service.clock();
    for (const account of [old, renewed]) subject.expectPassed(await subject.send({}, account));
    const swapped = (own: Account, other: Account) =>
      subject.send({ signed: { secret: other.credentials.secret } }, own);
    expectRefusal(await swapped(old, renewed), 'E2007');
    expectRefusal(await swapped(renewed, old), 'E2007');

    service.clock.now = rotated + ROTATION_GRACE_MS - 1;
    subject.expectPassed(await subject.send({}, old));
    service.clock.now = rotated + ROTATION_GRACE_MS;
    expectRefusal(await subject.send({}, old), 'E2004');
    subject.expectPassed(await subject.send({}, renewed));
  });

  test('accepts only the last two pairs', async () => {
    const first = await subject.newKey();
    const second = await rotate(first);
    const third = await rotate(second);
    expectRefusal(await subject.send({}, first), 'E2004');
    for (const account of [second, third]) subject.expectPassed(await subject.send({}, account));
  });

  test('ends the previous pair at once when told so', async () => {
    const old = await subject.newKey();
    const renewed = await rotate(old, true);
    expectRefusal(await subject.send({}, old), 'E2004');
    subject.expectPassed(await subject.send({}, renewed));
  });
}
