import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { bucketOf } from '#signing/nonce-buckets.ts';
import type { Database } from '#storage/database/connection.ts';
import type { BenchMerchant } from './merchants.ts';
import { signedHeaders } from './signed-requests.ts';

/** Creations per second. */
const RATE = 30;
/** The longest that a client waits for a response, in milliseconds. */
const PATIENCE_MS = 5_000;
/** When each creation is replayed at the other replica, in milliseconds after its first response. */
const REPLAYED_AFTER_MS = [0, 500, 2_000];
const PATH = '/external/v1/payments/prompt';

/** A creation, as its client saw it. */
interface Sent {
  readonly reference: string;
  readonly bucket: number;
  /** When it was sent, and when its response came, in milliseconds on the process's clock. */
  readonly at: number;
  readonly until: number;
  readonly isCreated: boolean;
}

/** The results of a round's creations. */
export interface Ledger {
  readonly created: number;
  /** By bucket, the time from the first refused creation to the response of the last, in seconds. */
  readonly refusedFor: ReadonlyMap<number, number>;
  readonly refused: number;
  readonly replays: number;
  /** Replays that created another payment, according to the database. */
  readonly executed: number;
}

interface ReplayedLoad {
  /** Resolves once creations succeed in all buckets, on all replicas. */
  recovered(): Promise<void>;
  /** Ends the load, waits for its replays, and returns the results. */
  end(): Promise<Ledger>;
}

/**
 * Creates payments at a steady rate through replicas of the API, with keys of many buckets, and replays each
 * request byte by byte at the other replicas. No request has an idempotency key: only its nonce keeps
 * it from being executed again.
 */
export function startReplayedLoad(
  ports: readonly number[],
  merchants: readonly BenchMerchant[],
  db: Database,
): ReplayedLoad {
  const sent: Sent[] = [];
  const pending = new Set<Promise<void>>();
  let replays = 0;
  let count = 0;
  let isRunning = true;

  async function post(port: number, headers: Record<string, string>, body: string) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}${PATH}`, {
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return 0;
    }
  }

  async function createAndReplay(index: number): Promise<void> {
    const { credentials } = merchants[index % merchants.length] as BenchMerchant;
    const first = Math.floor(index / merchants.length) % ports.length;
    const reference = crypto.randomUUID();
    const body = JSON.stringify({ amount: 5000, customerReferenceId: reference });
    const headers = signedHeaders({ method: 'POST', path: PATH, body, credentials }, Date.now());
    const at = performance.now();
    const status = await post(ports[first] as number, headers, body);
    const bucket = bucketOf(credentials.keyId);
    const until = performance.now();
    sent.push({ reference, bucket, at, until, isCreated: status === 201 });
    await Promise.all(
      REPLAYED_AFTER_MS.map(async (ms, turn) => {
        await sleep(ms);
        replays++;
        await post(ports[(first + turn + 1) % ports.length] as number, headers, body);
      }),
    );
  }

  const running = (async () => {
    while (isRunning) {
      const work = createAndReplay(count++);
      pending.add(work);
      void work.finally(() => pending.delete(work));
      await sleep(1000 / RATE);
    }
  })();

  return {
    async recovered() {
      const since = performance.now();
      // Each key has been used on each replica.
      const enough = 2 * ports.length * merchants.length;
      for (;;) {
        await sleep(100);
        const newest = sent.filter(({ at }) => at > since).slice(-enough);
        if (newest.length === enough && newest.every(({ isCreated }) => isCreated)) return;
        if (performance.now() - since > 60_000)
          throw new Error('creations are refused for a minute');
      }
    },
    async end() {
      isRunning = false;
      await running;
      await Promise.all(pending);
      const refused = sent.filter(({ isCreated }) => !isCreated);
      const refusedFor = new Map<number, number>();
      for (const [bucket, ofBucket] of Map.groupBy(refused, each => each.bucket)) {
        const from = Math.min(...ofBucket.map(({ at }) => at));
        refusedFor.set(bucket, (Math.max(...ofBucket.map(({ until }) => until)) - from) / 1000);
      }
      const references = sent.map(({ reference }) => reference);
      const { rows } = await sql<{ more: number }>`
        select count(*)::int - 1 as more from payments
        where customer_reference_id = any(${references}) group by customer_reference_id
      `.execute(db);
      return {
        refused: refused.length,
        refusedFor,
        replays,
        created: sent.length - refused.length,
        executed: rows.reduce((sum, { more }) => sum + more, 0),
      };
    },
  };
}
