import { expect, test } from 'vitest';
import { PasswordQueue } from '#accounts/people/password-queue.ts';

/** Work that ends when the test says so, in the order in which it began. */
function startWork(turns: PasswordQueue) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const refused: string[] = [];
  const take = (client: string, most = 20) =>
    turns
      .take(client, most, () => {
        begun.push(client);
        return new Promise<void>(resolve => ends.push(resolve));
      })
      .catch(({ errorCode, retryAfterSeconds }) => {
        refused.push(`${client} ${errorCode} ${retryAfterSeconds}`);
      });
  const settle = () => new Promise<void>(resolve => setImmediate(resolve));
  const endNext = async () => {
    ends.shift()?.();
    await settle();
  };
  return { begun, refused, take, endNext, settle };
}

test('two run at once, and clients take turns', async () => {
  const { begun, take, endNext } = startWork(new PasswordQueue({ atOnce: 2, waiting: 10 }));
  for (const client of ['a', 'a', 'a', 'a', 'a', 'b', 'c', 'b']) void take(client);
  expect(begun).toEqual(['a', 'a']);
  for (let ended = 0; ended < 6; ended++) await endNext();
  expect(begun.join('')).toBe('aaabcaba');
  // The places of those that have ended are free again.
  for (let ended = 0; ended < 2; ended++) await endNext();
  void take('d');
  void take('d');
  expect(begun.join('')).toBe('aaabcabadd');
});

test('no more may wait for one client than its limit', async () => {
  const { begun, refused, take, endNext, settle } = startWork(
    new PasswordQueue({ atOnce: 2, waiting: 60 }),
  );
  for (let sent = 0; sent < 120; sent++) void take('session', 2);
  await settle();
  expect(refused).toHaveLength(116);
  expect(new Set(refused)).toEqual(new Set(['session E5002 2']));
  for (let ended = 0; ended < 4; ended++) await endNext();
  expect(begun).toHaveLength(4);
});

test('a full queue makes room for clients with fewer waiting, at the cost of the one with most', async () => {
  const { begun, refused, take, endNext, settle } = startWork(
    new PasswordQueue({ atOnce: 1, waiting: 4 }),
  );
  for (const client of ['flood', 'flood', 'flood', 'flood', 'flood']) void take(client);
  for (const client of ['shop', 'office', 'home']) void take(client);
  // Now every client has one.
  void take('late');
  await settle();
  expect(refused.map(each => each.split(' ')[0]).sort()).toEqual([
    'flood',
    'flood',
    'flood',
    'late',
  ]);
  for (let ended = 0; ended < 4; ended++) await endNext();
  expect(begun).toEqual(['flood', 'flood', 'shop', 'office', 'home']);
});

test('failing work passes its turn on', async () => {
  const turns = new PasswordQueue({ atOnce: 1, waiting: 1 });
  const failing = turns.take('a', 1, () => Promise.reject(new Error('no')));
  const next = turns.take('b', 1, async () => 'done');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('done');
});
