import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import { mpHere } from '../../cli/mp.ts';
import { operatorOf } from '../../helpers/accounts.ts';
import { startReceiver } from '../../payments/webhooks/receiver.ts';
import { openAccounts, openDatabase } from '../accounts.ts';
import {
  type ServiceProcess,
  serviceEnvironment,
  startReplica,
  startWorker,
} from '../service-process.ts';
import type { Cluster, Role } from './cluster.ts';
import { Ledger } from './ledger.ts';
import { Load } from './load.ts';

const GUIDE = new URL(
  '../../../src/surfaces/docs/guides/operating/high-availability.md',
  import.meta.url,
);
const OWNER: Role = { name: 'eps', password: 'of the owner' };
const SERVICE: Role = { name: 'eps_service', password: 'of the service' };

type Accounts = Awaited<ReturnType<typeof openAccounts>>;

interface DeployOptions {
  /** Requests of each kind that start per second on each replica. */
  readonly rate: number;
  /** How often a key is created and revoked, in milliseconds. */
  readonly revocationMs: number;
  /** The clock of the load, in milliseconds; by default the monotonic one. */
  readonly now?: () => number;
  /** Environment variables of the service beyond those that it needs. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Prepares what else the processes need before they start. */
  readonly prepare?: (accounts: Accounts) => Promise<void>;
}

/** The service on a cluster, under load, with a merchant that receives webhooks of its payments. */
export interface Deployed {
  readonly shop: Accounts['shop'];
  /** Replicas by how they find the primary. */
  readonly replicas: { readonly HAProxy: ServiceProcess; readonly servers: ServiceProcess };
  /** All of them. */
  readonly processes: readonly ServiceProcess[];
  readonly ledger: Ledger;
  readonly load: Load;
  /** Stops what is left. */
  stop(): Promise<void>;
}

/** Sets the service up as in the guide, starts two replicas and a worker, and then the load. */
export async function deployOn(
  cluster: Cluster,
  { rate, revocationMs, now, environment, prepare }: DeployOptions,
): Promise<Deployed> {
  const masterKey = randomBytes(32);
  const ledger = new Ledger();
  const processes: ServiceProcess[] = [];
  const receiver = await startReceiver((response, { event }) => {
    ledger.hear(event.data.id, event.type);
    response.writeHead(204).end();
  });
  const stop = async () => {
    await Promise.all(processes.map(it => it.stop('SIGKILL')));
    await receiver.close();
  };
  try {
    await makeDatabase(cluster);
    const environmentOf = (url: string) =>
      serviceEnvironment(url, masterKey, { DATABASE_DURABILITY: 'replicated', ...environment });
    const byProxy = environmentOf(cluster.proxyUrl(SERVICE));
    const byServers = environmentOf(cluster.serversUrl(SERVICE));
    const migrated = await mpHere(['migrate'], {
      ...byProxy,
      MIGRATION_DATABASE_URL: cluster.serversUrl(OWNER),
    });
    if (migrated.status !== 0) throw new Error(migrated.err);
    const db = openDatabase(cluster.proxyUrl(SERVICE));
    const accounts = await openAccounts(db, masterKey);
    const { operated, shop } = accounts;
    await createEndpoint(operatorOf(operated), operated.keyring, {
      merchantId: shop.merchant.id,
      url: receiver.url,
      allowPrivateAddresses: true,
    });
    await prepare?.(accounts);
    await db.destroy();
    processes.push(startWorker(byServers));
    const starting = [startReplica(byProxy), startReplica(byServers)].map(async replica => {
      processes.push(await replica);
      return replica;
    });
    // Both have started, or have failed, before anything is stopped.
    await Promise.allSettled(starting);
    const [HAProxy, servers] = await Promise.all(starting);
    if (HAProxy === undefined || servers === undefined) throw new Error('a replica is missing');
    const replicas = { HAProxy, servers };
    // What mp would log as a warning is retried.
    const env = { ...byServers, LOG_LEVEL: 'fatal' };
    const load = new Load({ ledger, replicas, shop, env, rate, revocationMs, now });
    const end = () => {
      load.abandon();
      return stop();
    };
    return { shop, replicas, processes, ledger, load, stop: end };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Runs the guide's commands for an operator. */
async function makeDatabase(cluster: Cluster): Promise<void> {
  const [, block = ''] =
    /```sql\n(create role eps .*?)```/s.exec(readFileSync(GUIDE, 'utf8')) ?? [];
  const session = await cluster.openSession();
  for (const statement of block.trim().split('\n')) {
    const { password } = statement.includes(SERVICE.name) ? SERVICE : OWNER;
    await session.query(statement.replace('…', password));
  }
  await session.end();
}
