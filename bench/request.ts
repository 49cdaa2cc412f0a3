import { startBare, startBareWithSelect } from './baselines.ts';
import { createDatabase, startPostgres, UNDISTURBED } from './databases.ts';
import type { Finding } from './measure.ts';
import { addMerchants } from './merchants.ts';
import { startRedis, startService } from './processes.ts';
import { requirePrograms } from './required-programs.ts';
import type { Resources } from './resources.ts';
import { compare, httpContender, inTurns } from './rounds.ts';
import { AGAINST } from './settings.ts';
import { cursorPages, firstPages, gets } from './traffic.ts';

/** Compares signed reads with bare Fastify that runs the same statement on a pipelined connection. */
export async function bench(resources: Resources): Promise<Finding[]> {
  requirePrograms();
  const redisUrl = await startRedis(resources);
  const server = await startPostgres(resources, UNDISTURBED);
  const { db, url: databaseUrl } = await createDatabase(resources, server, 'request');
  const { merchants, masterKey } = await addMerchants(db);
  const state = { databaseUrl, masterKey, redisUrl };
  const service = await startService(resources, 'service', state);
  const withoutRedis = await startService(resources, 'service-without-redis', {
    databaseUrl,
    masterKey,
  });
  const bare = await startBare(resources);
  const select = await startBareWithSelect(resources, databaseUrl, merchants);

  const contender = (name: string, { port }: { port: number }, traffic: typeof gets) =>
    httpContender(resources, { name, port, traffic: traffic(merchants) });
  /** With one connection throughput is the inverse of latency. */
  const alone = (name: string, { port }: { port: number }, traffic: typeof gets) =>
    httpContender(resources, { name, port, traffic: traffic(merchants), connections: 1 });
  const contenders = [
    contender('bare', bare, gets),
    contender('bare with SELECT', select, gets),
    contender('GET', service, gets),
    contender('GET without Redis', withoutRedis, gets),
    contender('bare with list', select, firstPages),
    contender('list', service, firstPages),
    contender('bare with cursor', select, cursorPages),
    contender('list behind a cursor', service, cursorPages),
    alone('bare with SELECT at one connection', select, gets),
    alone('GET at one connection', service, gets),
    alone('bare with list at one connection', select, firstPages),
    alone('list at one connection', service, firstPages),
  ];
  for (const root of AGAINST) {
    const other = await startService(resources, 'other-service', state, { root });
    contenders.push(
      contender(`GET in ${root}`, other, gets),
      contender(`list in ${root}`, other, firstPages),
    );
  }
  const throughput = await inTurns(contenders);
  const ratio = (subject: string, pair: readonly [string, string], goal: number | null) =>
    compare(throughput, subject, pair, goal);
  return [
    ratio('signed GET by ID', ['GET', 'bare with SELECT'], 0.8),
    ratio('signed list of ten', ['list', 'bare with list'], 1),
    ratio('signed list of ten behind a cursor', ['list behind a cursor', 'bare with cursor'], 1),
    ratio('GET without Redis', ['GET without Redis', 'GET'], 0.7),
    ratio(
      'signed GET by ID at one connection',
      ['GET at one connection', 'bare with SELECT at one connection'],
      null,
    ),
    ratio(
      'signed list of ten at one connection',
      ['list at one connection', 'bare with list at one connection'],
      null,
    ),
    ratio('bare Fastify with a pipelined SELECT', ['bare with SELECT', 'bare'], null),
    ...AGAINST.flatMap(root => [
      ratio(`GET against ${root}`, ['GET', `GET in ${root}`], null),
      ratio(`list against ${root}`, ['list', `list in ${root}`], null),
    ]),
  ];
}
