import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#storage/database/connection.ts';
import { runLoad } from './load.ts';
import { type Finding, median } from './measure.ts';
import type { BenchMerchant, BenchMerchants } from './merchants.ts';
import type { ServiceProcess } from './processes.ts';
import type { Resources } from './resources.ts';
import { type Contender, compare, inTurns, peakContender } from './rounds.ts';
import { CONNECTIONS, ROUNDS, SECONDS } from './settings.ts';
import { renderSigned } from './signed-requests.ts';
import { gets } from './traffic.ts';

const TURNS = Math.min(ROUNDS, 3);
/** Signed requests, as a multiple of those that the peak has needed. */
const SPARE = 2;
/** Merchants that do not read, each on one connection. */
const SLOW_MERCHANTS = 12;
/**
 * Lists that each merchant requests: first as many as the kernel buffers without a reader, then enough
 * to exceed the service's slots together. It is what the rate limit allows per minute.
 */
const LISTS = [15, 45];
/** Payments of a list, and characters of their redirectUrl, so that a list takes some 300 KB. */
const LONG_PAGE = 100;
const LONG_URL = 2_000;
/** How long the service has to produce the lists of each step, in milliseconds. */
const SETTLING_MS = 6_000;
const RECOVERY_MS = 1_000;

interface Subject extends Pick<BenchMerchants, 'merchants'> {
  readonly db: Database;
  readonly service: ServiceProcess;
}

/** Alternates between reads by ID of some merchants alone, and concurrent with others that never read their lists. */
export async function slowReaders(
  resources: Resources,
  { db, merchants, service: { port } }: Subject,
): Promise<Finding[]> {
  const slow = merchants.slice(0, SLOW_MERCHANTS);
  const ids = slow.map(({ id }) => id);
  const redirectUrl = `https://shop.example/${'x'.repeat(LONG_URL)}`;
  await db
    .updateTable('payments')
    .set({ redirect_url: redirectUrl })
    .where('merchant_id', 'in', ids)
    .execute();
  const traffic = gets(merchants.slice(SLOW_MERCHANTS));
  const alone = peakContender(resources, { name: 'reads alone', port, traffic });
  const refused: number[] = [];
  const beside: Contender = {
    name: 'reads beside clients that do not read',
    warmUp: async () => undefined,
    async round() {
      const sockets = slow.map(() => connect(port, '127.0.0.1').pause());
      try {
        for (const count of LISTS) {
          for (const [index, socket] of sockets.entries()) askForLists(socket, slow[index], count);
          await sleep(SETTLING_MS);
        }
        const load = { port, traffic, connections: CONNECTIONS, seconds: SECONDS, mayShed: true };
        const supply = alone.highest() * SECONDS * SPARE;
        const { payments, shed, seconds } = await runLoad({ ...load, supply }, resources);
        refused.push(shed / seconds);
        return payments / seconds;
      } finally {
        for (const socket of sockets) socket.destroy();
        await sleep(RECOVERY_MS);
      }
    },
  };
  const throughput = await inTurns([alone, beside], TURNS);
  const finding = compare(
    throughput,
    `reads of other keys beside ${SLOW_MERCHANTS} clients that never read their lists`,
    [beside.name, alone.name],
    0.6,
  );
  const measured = `${finding.measured}; ${median(refused).toFixed(0)}/s refused`;
  return [{ ...finding, measured }];
}

function askForLists(socket: Socket, merchant: BenchMerchant | undefined, count: number): void {
  if (merchant === undefined) throw new Error('there are too few merchants');
  const path = `/external/v1/payments?limit=${LONG_PAGE}`;
  const list = { method: 'GET', path, credentials: merchant.credentials } as const;
  socket.on('error', () => undefined);
  for (let asked = 0; asked < count; asked++) socket.write(renderSigned(list, Date.now()));
}
