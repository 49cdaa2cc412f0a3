import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { setAddress } from '#accounts/deposit-addresses.ts';
import { addNode } from '#onchain/watching/operate/manage-nodes.ts';
import type { openAccounts } from '../test/deployment/accounts.ts';
import type { Deployed } from '../test/deployment/cluster/deployed.ts';
import { call, type ServiceProcess } from '../test/deployment/service-process.ts';
import { operatorOf } from '../test/helpers/accounts.ts';
import { type Evm, RICH } from '../test/helpers/evm.ts';

const NETWORK = 'eth-test';
const PAYER = RICH[1];
const MERCHANT = RICH[2];
/** How often a payment is made and paid, and a block is mined, in milliseconds. */
const TRANSFER_MS = 3_000;
const BLOCK_MS = 1_000;
const RETRY_MS = 500;
/** The longest that a page may take, in milliseconds. */
const PAGE_MS = 15_000;
const CREATE = '/external/v1/payments/prompt';
/** The checkout's link that opens a wallet. */
const WALLET = /ethereum:(0x[0-9a-fA-F]{40})@11155111\?value=(\d+)/;

/** Makes the service watch the chain, for the merchant. */
export async function watchChain(
  { operated, shop }: Awaited<ReturnType<typeof openAccounts>>,
  url: string,
): Promise<void> {
  const { db, keyring } = operated;
  const operator = operatorOf(operated);
  // The other chains stay marked as watched.
  await sql`update networks set settled_by = 'simulation' where chain = ${NETWORK}`.execute(db);
  await sql`
    update chains set polled_at = null, watched_until = null, expires_until = null where id = ${NETWORK}`.execute(
    db,
  );
  await setAddress(operator, { merchantId: shop.merchant.id }, NETWORK, MERCHANT);
  await addNode(
    operator,
    { keyring, isProduction: false },
    { chain: NETWORK, url, requestsPerSecond: 1_000 },
  );
}

/** Customers who choose the network of their own payment, and pay it on the chain. */
export class Transfers {
  readonly #stopped = new AbortController();
  readonly #lanes: Promise<void>[];
  #isAbandoned = false;

  constructor(evm: Evm, deployed: Deployed) {
    const { HAProxy, servers } = deployed.replicas;
    this.#lanes = [
      this.#repeat(BLOCK_MS, () => evm.mine()),
      ...[HAProxy, servers].map(replica =>
        this.#repeat(TRANSFER_MS, () => this.#pay(evm, deployed, replica)),
      ),
    ];
  }

  /** Stops once every payment that was begun is paid. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#lanes);
  }

  /** Stops without waiting for confirmation by a service that may be gone. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#stopped.abort();
  }

  async #repeat(ms: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopped;
    while (await sleep(ms, true, { signal }).catch(() => false)) await work();
  }

  async #pay(evm: Evm, { ledger, shop }: Deployed, replica: ServiceProcess): Promise<void> {
    const reference = randomUUID();
    ledger.asked.add(reference);
    const body = { amount: 5000, customerReferenceId: reference };
    const made = await this.#untilThere(async () => {
      const request = { path: CREATE, body, idempotencyKey: reference };
      const reply = await call(replica, shop, request);
      return reply.status === 201 ? reply.body : undefined;
    });
    if (made === undefined) return;
    const { prompt, checkoutUrl } = made;
    ledger.acknowledge(reference, prompt.id);
    const page = `${replica.url}${new URL(checkoutUrl).pathname}`;
    // The page decides: it may have changed although the form got no response.
    const quote = await this.#untilThere(async () => {
      await fetch(`${page}/network`, {
        method: 'POST',
        body: new URLSearchParams({ network: NETWORK }),
        redirect: 'manual',
        signal: AbortSignal.timeout(PAGE_MS),
      });
      const response = await fetch(page, { signal: AbortSignal.timeout(PAGE_MS) });
      return WALLET.exec(await response.text()) ?? undefined;
    });
    if (quote === undefined) return;
    const [, to = '', value = ''] = quote;
    ledger.paid.set(prompt.id, await evm.transferNative(to, BigInt(value), PAYER));
  }

  /** Retries any failure until there is a result; undefined if it was abandoned. */
  async #untilThere<T>(attempt: () => Promise<T | undefined>): Promise<T | undefined> {
    while (!this.#isAbandoned) {
      const result = await attempt().catch(() => undefined);
      if (result !== undefined) return result;
      await sleep(RETRY_MS);
    }
    return undefined;
  }
}
