import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDust } from '#storage/repositories/deposits/dust.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

let service: Operated;
beforeAll(async () => {
  service = await startOperated();
});
afterAll(() => service.close());

test('dust is listed by day, with its sum, and its first and last transaction', async () => {
  const place = { blockchainId: 'eth-usdc', address: '0xA' };
  const dust = (transactionHash: string, tokenAmount: bigint) => {
    return { ...place, transactionHash, tokenAmount };
  };
  await addDust(service.db, [dust('a', 1n), dust('b', 0n), dust('c', 20n)], '2026-05-18');
  await addDust(service.db, [dust('d', 3n), { ...dust('e', 5n), address: '0xB' }], '2026-05-18');
  await addDust(service.db, [dust('f', 7n)], '2026-05-19');
  const { blockchainId } = place;
  const shared = { blockchainId, address: '0xA', assetSymbol: 'USDC' };
  expect(await service.ask('deposit', 'dust')).toEqual([
    {
      ...shared,
      day: '2026-05-19',
      transfers: 1,
      tokenAmount: '0.000007',
      firstHash: 'f',
      lastHash: 'f',
    },
    {
      ...shared,
      day: '2026-05-18',
      transfers: 4,
      tokenAmount: '0.000024',
      firstHash: 'a',
      lastHash: 'd',
    },
    {
      ...shared,
      address: '0xB',
      day: '2026-05-18',
      transfers: 1,
      tokenAmount: '0.000005',
      firstHash: 'e',
      lastHash: 'e',
    },
  ]);
  const { out } = await mpHere(['deposit', 'dust', '--limit', '1'], service.env);
  expect(out).toContain('0.000007 USDC');
});
