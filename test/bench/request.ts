import { startBare, startBareWithSelect } from './baselines.ts';
import { createDatabase, startPostgres, UNDISTURBED } from './databases.ts';
import type { Finding } from './measure.ts';
import { addMerchants } from './merchants.ts';
import { startRedis, startService } from './processes.ts';
import { requirePrograms } from './required-programs.ts';
import type { Resources } from './resources.ts';
import { compare, httpContender, inTurns } from './rounds.ts';
import { cursorPages, firstPages, gets } from './traffic.ts';

/** Holds signed reads against bare Fastify with the same statement on a pipelined connection. */
export async function bench(resources: Resources): Promise<Finding[]> {
  requirePrograms();
  const redisUrl = await startRedis(resources);
  const server = await startPostgres(resources, UNDISTURBED);
  const { db, url: databaseUrl } = await createDatabase(resources, server, 'request');
  const { merchants, masterKey } = await addMerchants(db);
  const state = { databaseUrl, masterKey };
  const service = await startService(resources, 'service', { ...state, redisUrl });
  const withoutRedis = await startService(resources, 'service-without-redis', state);
  const bare = await startBare(resources);
  const select = await startBareWithSelect(resources, databaseUrl, merchants);

  const contender = (name: string, { port }: { port: number }, traffic: typeof gets) =>
    httpContender(resources, { name, port, traffic: traffic(merchants) });
  const throughput = await inTurns([
    contender('bare', bare, gets),
    contender('bare with SELECT', select, gets),
    contender('GET', service, gets),
    contender('GET without Redis', withoutRedis, gets),
    contender('bare with list', select, firstPages),
    contender('list', service, firstPages),
    contender('bare with cursor', select, cursorPages),
    contender('list behind a cursor', service, cursorPages),
  ]);
  return [
    compare(throughput, 'signed GET by ID', ['GET', 'bare with SELECT'], 0.8),
    compare(throughput, 'signed list of ten', ['list', 'bare with list'], 0.8),
    compare(
      throughput,
      'signed list of ten behind a cursor',
      ['list behind a cursor', 'bare with cursor'],
      0.8,
    ),
    compare(throughput, 'GET without Redis', ['GET without Redis', 'GET'], 0.6),
    compare(throughput, 'bare Fastify with a pipelined SELECT', ['bare with SELECT', 'bare'], null),
  ];
}
