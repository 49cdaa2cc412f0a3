import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import fc from 'fast-check';
import type { InjectOptions, RouteOptions } from 'fastify';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTestTwin } from '#accounts/test-twins.ts';
import { CLIENT_COMMANDS } from '#cli/client/commands.ts';
import { buildProgram } from '#cli/program.ts';
import { type Credentials, signingHeaders } from '#client/index.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { hashToken, newToken } from '#crypto/token.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { newDeposit } from '#onchain/settlement/observed-transfer.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { createSandboxProcessor } from '#payments/processors/sandbox-processor.ts';
import { SIMULATION_CASES } from '#schemas/simulation-cases.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { insertDeposit } from '#storage/repositories/deposits/deposits.ts';
import { allowSimulation, forbidSimulation } from '#storage/repositories/simulated-services.ts';
import { mpHere } from '../cli/mp.ts';
import { ADDRESSES, addKey, addMerchant, addPartner } from '../helpers/accounts.ts';
import type { TestApp } from '../helpers/app.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addSession,
  HOST,
  type Visitor,
} from '../helpers/panel.ts';
import { addPayment } from '../helpers/payments.ts';
import { runs } from '../helpers/property-runs.ts';
import { startWithRoutes } from '../helpers/registered-routes.ts';
import { addAdmin, basic } from './legacy/older-contract.ts';
import { fieldsOf } from './panel/form-fields.ts';

/**
 * Every route by everybody, and every command, with a live merchant's payments wherever an ID fits: none is ever
 * settled without money. Two guards see to that, the service's rule and the database's triggers; each holds alone, and
 * without both the property fails.
 */

/** Inputs to each route by each visitor, and to each command. */
const INPUTS = runs(1);
/** Requests in flight: each waits for the database most of its time. */
const LANES = 8;

const PUBLIC_URL = `https://${HOST}`;
const masterKey = randomBytes(32);
const PRODUCTION = {
  NODE_ENV: 'production',
  MASTER_KEY: masterKey.toString('base64'),
  PUBLIC_URL,
  PANEL_URL: PUBLIC_URL,
};
/** The rule of a service that simulates; its database may not. */
const FORGETFUL = { NODE_ENV: 'test', SIMULATION: 'on', PUBLIC_URL, PANEL_URL: PUBLIC_URL };
const TRIGGERS = {
  deposits: ['deposits_simulated'],
  payments: ['payments_sandbox', 'payments_sandbox_paid'],
  payment_transitions: ['payment_transitions_simulated'],
};

type Caller = Credentials | { readonly authorization: string } | Visitor | undefined;

/** A payment of a live merchant, and its link. */
interface Target extends Pick<Payment, 'id' | 'merchant_id'> {
  readonly token: string;
}

interface Stage {
  readonly service: TestApp;
  readonly routes: readonly RouteOptions[];
  readonly callers: Readonly<Record<string, Caller>>;
  readonly liveIds: readonly string[];
  readonly partnerId: string;
  /** A transfer in the inbox of exactly what a payment waits for, simulated before the service was in production. */
  readonly depositId: string;
  /** Open payments, by what they wait for. One that has ended meanwhile is replaced. */
  targets(): Promise<Readonly<Record<string, Target>>>;
}

let stage: Stage;

async function setStage(env: Record<string, string>): Promise<Stage> {
  const { service, registered } = await startWithRoutes({
    env: { ...env, DATABASE_URL: 'postgres://not-used.test/eps' },
    keyring: createKeyring([masterKey]),
  });
  const { db, clock } = service;
  const now = new Date(clock());
  const partner = await addPartner(service);
  const addresses = { eth: ADDRESSES.eth };
  const live = await addMerchant(service, { addresses, partnerId: partner.partner.id });
  const us = await addMerchant(service, { kind: 'us', addresses: {} });
  const other = await addMerchant(service, { environment: 'test', addresses: {} });
  const operator = { db, clock, actor: 'test' };
  const twin = await makeTestTwin(operator, live.merchant.id);
  const liveId = live.merchant.id;
  const callers: Stage['callers'] = {
    nobody: undefined,
    'its key': live,
    'the key of its US account': us,
    'its user': await addAdmin(service, liveId).then(({ clientId, apiKey }) => ({
      authorization: basic(clientId, apiKey),
    })),
    'its partner’s key': partner,
    'another’s test key': other,
    'its twin’s key': await addKey(service, { merchantId: twin.id }),
    'its admin': await addMerchantUser(service, liveId, 'admin'),
    'its member': await addMerchantUser(service, liveId, 'member'),
    'the admin of its US account': await addMerchantUser(service, us.merchant.id, 'admin'),
    'its partner’s owner': await addPartnerUser(service, partner.partner.id, 'owner'),
    'its twin’s admin': await addMerchantUser(service, twin.id, 'admin'),
  };

  const columns = { created_at: now, offered_blockchain_ids: ['eth'] };
  const add = async (more: Partial<Payment> = {}, token = newToken()) => {
    const checkout_token_hash = hashToken(token);
    const made = { ...columns, checkout_token_hash, ...more };
    const payment = await addPayment(db, live.merchant, made);
    return { ...payment, token };
  };
  const choose = async () => {
    const { token, ...payment } = await add();
    const choice = { payment, blockchainId: 'eth', offering: 'simulated' } as const;
    return { ...(await selectNetwork(db, service.rates, choice, now)), token };
  };
  const transferTo = ({ id, address, token_amount: amount }: Payment) => ({
    blockchainId: 'eth',
    transactionHash: `0x${id}`,
    position: 0,
    address: address ?? '',
    tokenAmount: BigInt(amount ?? 0),
    blockHeight: 1,
    blockHash: null,
    occurredAt: now,
    source: 'simulation' as const,
  });
  const see = async () => {
    const payment = await choose();
    await observeTransfer(db, { ...transferTo(payment), finality: 'seen' }, now);
    return payment;
  };
  const sandbox = createSandboxProcessor(service.keyring, PUBLIC_URL);
  const open = async () => {
    const token = newToken();
    const regulated = { processor: 'sandbox', external_id: sandbox.externalIdOf(token) };
    const payment = await addPayment(db, us.merchant, { created_at: now, ...regulated });
    return { ...payment, token };
  };
  const make: Record<string, () => Promise<Target>> = {
    'a network': add,
    'a transfer': choose,
    'the end of a simulated transfer': see,
    'the sandbox': open,
  };
  const targets: Record<string, Target> = {};
  await allowSimulation(db, now);
  const waiting = await choose();
  const stray = { ...transferTo(waiting), finality: 'final' as const };
  const nobodys = { outcome: 'unknown', payment_id: null } as const;
  const { id: depositId } = await insertDeposit(db, newDeposit(stray, nobodys, now));
  targets['a transfer'] = waiting;
  await forbidSimulation(db);
  return {
    service,
    routes: registered.filter(({ method }) => method !== 'HEAD'),
    callers,
    liveIds: [liveId, us.merchant.id],
    partnerId: partner.partner.id,
    depositId,
    async targets() {
      const open = await db
        .selectFrom('payments')
        .select('id')
        .where(
          'id',
          'in',
          Object.values(targets).map(({ id }) => id),
        )
        .where('status', '=', 'pending')
        .execute();
      const isOpen = (name: string) => open.some(({ id }) => id === targets[name]?.id);
      const ended = Object.keys(make).filter(name => !isOpen(name));
      if (ended.length === 0) return targets;
      await allowSimulation(db, now);
      for (const name of ended) targets[name] = (await make[name]?.()) as Target;
      await forbidSimulation(db);
      return targets;
    },
  };
}

/** What has been simulated of the live merchants' payments. */
async function violations({ service, liveIds }: Stage): Promise<string[]> {
  const { rows } = await sql<{ found: string }>`
    select status || '/' || session_status as found from payments
    where merchant_id = any(${liveIds}) and (status in ('successful', 'unsuccessful')
      or (session_status = 'completed' and not exists (
        select from deposits where payment_id = payments.id and state = 'seen')))
    union all
    select 'a deposit ' || state from deposits join payments on payments.id = payment_id
    where merchant_id = any(${liveIds}) and source = 'simulation' and state in ('final', 'failed')
    union all
    select 'moved by the simulation' from payment_transitions
    join payments on payments.id = payment_id
    where merchant_id = any(${liveIds}) and actor = 'simulation'
    order by found`.execute(service.db);
  return rows.map(({ found }) => found);
}

/** Values of fields, properties and flags that may have to do with a payment, by name. */
function valuesFor(
  { depositId }: Stage,
  { id, merchant_id: merchantId }: Target,
  at: number,
): Record<string, unknown> {
  const ids = { payment: id, paymentId: id, id, deposit: depositId, depositId, merchantId };
  const other = { network: 'eth', blockchainId: 'eth', blockchain: 'eth', merchant: merchantId };
  const consent = { sure: 'yes', 'confirmation-sure': 'yes', hash: `0x${id}`, to: 'somebody' };
  const drawn = {
    case: pickOne(SIMULATION_CASES, at),
    action: pickOne(['pay', 'hold', 'fail'], at),
    remedy: pickOne(['returned', 'kept', 'other'], at),
  };
  const fixed = { seconds: 86_400, advance: '30d', amount: 5000, note: 'for a test' };
  return { ...ids, ...other, ...consent, ...drawn, ...fixed };
}

const pick = (names: readonly string[], values: Record<string, unknown>) =>
  Object.fromEntries(names.filter(name => name in values).map(name => [name, values[name]]));

/** Sends a request that has the payment wherever it fits. */
async function send(
  own: Stage,
  route: RouteOptions,
  { caller, target, at }: { caller: Caller; target: Target; at: number },
): Promise<void> {
  const { token, merchant_id: merchantId } = target;
  const { service, partnerId } = own;
  const values = valuesFor(own, target, at);
  const method = route.method as 'GET' | 'POST';
  const accountId = route.url.includes('/partners/') ? partnerId : merchantId;
  const named: Record<string, unknown> = { ...values, token, accountId, name: 'sandbox' };
  const url = route.url.replaceAll(/:(\w+)|\*/g, (_, name) => String(named[name] ?? own.depositId));
  const isApi = url.startsWith('/external');
  const { properties = {} } = (route.schema?.body ?? {}) as { properties?: object };
  const fields = isApi
    ? Object.keys(properties)
    : [...fieldsOf(route), ...(url.startsWith('/panel') ? ['confirmation-sure'] : [])];
  const sent = pick(fields, values);
  const body = isApi
    ? JSON.stringify(sent)
    : new URLSearchParams(sent as Record<string, string>).toString();
  const payload = method === 'POST' ? Buffer.from(body) : undefined;
  const headers: Record<string, string> = {
    host: HOST,
    'sec-fetch-site': 'same-origin',
    ...(payload && {
      'content-type': isApi ? 'application/json' : 'application/x-www-form-urlencoded',
    }),
  };
  if (caller !== undefined && 'personId' in caller) {
    headers.cookie = await addSession(service, caller);
  } else if (caller !== undefined && 'secret' in caller) {
    const now = service.clock();
    Object.assign(headers, signingHeaders(caller, { method, path: url, body: payload, now }));
  } else Object.assign(headers, caller);
  const options: InjectOptions = { method, url, headers };
  await service.app.inject(payload === undefined ? options : { ...options, payload });
}

/** Tries routes: those that name a payment as everybody with each open one, and all others with one visitor each. */
async function tryRoutes(routes = stage.routes): Promise<void> {
  const near = routes.filter(namesPayment);
  for (const route of near) {
    const callers = callersAt(route);
    // Those that everybody may send are few.
    const senders = callers.length > 1 ? callers : Array(5).fill(callers[0]);
    await check(route.url, (targets, drawn) =>
      targets.flatMap((target, of) =>
        senders.map(
          (caller, by) => () => send(stage, route, { caller, target, at: drawn + of + by }),
        ),
      ),
    );
  }
  await check('other routes', (targets, drawn) =>
    routes
      .filter(route => !near.includes(route))
      .map((route, index) => () => {
        const at = drawn + index;
        const [caller, target] = [pickOne(callersAt(route), at), pickOne(targets, at)];
        return send(stage, route, { caller, target, at });
      }),
  );
}

/** Whether a route changes something, and its path names a payment, its link, or a deposit. */
function namesPayment({ method, url }: RouteOptions): boolean {
  return (
    method === 'POST' && /:(id|paymentId|depositId)\b|^\/(checkout|processor)\/.*:token/.test(url)
  );
}

function pickOne<T>(all: readonly T[], at: number): T {
  return all[at % all.length] as T;
}

/** Makes attempts on the open payments, and looks at what they did. */
async function check(
  name: string,
  attemptsOn: (targets: readonly Target[], drawn: number) => readonly (() => Promise<unknown>)[],
): Promise<void> {
  const property = fc.asyncProperty(fc.nat(10_000), async drawn => {
    const before = await violations(stage);
    const left = [...attemptsOn(Object.values(await stage.targets()), drawn)];
    const lane = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await next();
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    expect(await violations(stage), name).toEqual(before);
  });
  await fc.assert(property, { numRuns: INPUTS, endOnFailure: true });
}

/** A key is read by the API alone, and a session by the panel; elsewhere everybody is nobody. */
function callersAt({ url }: RouteOptions): Caller[] {
  const isRead = (caller: Caller) =>
    caller === undefined ||
    ('personId' in caller ? url.startsWith('/panel') : url.startsWith('/external'));
  return Object.values(stage.callers).filter(isRead);
}

/** The client's commands send requests; these have no payments to work on, and the last makes another master key. */
const OTHER_COMMANDS = [...Object.keys(CLIENT_COMMANDS), 'migrate', 'restore', 'master-key'];

const NOUNS_OF_PAYMENTS = ['payment', 'clock', 'deposit'];

interface OperatorCommand {
  readonly words: readonly string[];
  readonly command: Command;
}

/** Every command of the operator. */
async function listCommands(): Promise<OperatorCommand[]> {
  const terminal = { env: {}, out: () => undefined, err: () => undefined };
  const { commands } = await buildProgram([], terminal);
  const nouns = commands.map(each => each.name()).filter(each => !OTHER_COMMANDS.includes(each));
  const leaves = async (noun: string) => {
    const program = await buildProgram([noun], terminal);
    const walk = (command: Command, words: string[]): OperatorCommand[] =>
      command.commands.length === 0
        ? [{ words, command }]
        : command.commands.flatMap(each => walk(each, [...words, each.name()]));
    const own = program.commands.find(each => each.name() === noun);
    return own === undefined ? [] : walk(own, [noun]);
  };
  return (await Promise.all(nouns.map(leaves))).flat();
}

/** Tries commands that take an ID: those of payments with each open one, and a third of all others. */
async function tryCommands(): Promise<void> {
  const env = { ...PRODUCTION, DATABASE_URL: stage.service.databaseUrl };
  const commands = await listCommands();
  expect(commands.length).toBeGreaterThan(70);
  const line = ({ words, command }: OperatorCommand, target: Target, at: number) => {
    const values = valuesFor(stage, target, at);
    const value = (name: string) => String(values[name] ?? target.id);
    const flags = flagsOf(command).flatMap(option => [
      option.long ?? '',
      ...(option.required ? [value(option.attributeName())] : []),
    ]);
    return [...words, ...command.registeredArguments.map(each => value(each.name())), ...flags];
  };
  const near = commands.filter(({ words: [noun] }) => NOUNS_OF_PAYMENTS.includes(noun ?? ''));
  for (const command of near) {
    await check(command.words.join(' '), (targets, drawn) =>
      targets.map((target, of) => () => mpHere(line(command, target, drawn + of), env)),
    );
  }
  await check('other commands', (targets, drawn) =>
    commands
      .filter(each => !near.includes(each))
      .filter(({ command }) => command.registeredArguments.length + flagsOf(command).length > 0)
      .filter((_, index) => index % 3 === drawn % 3)
      .map(each => () => mpHere(line(each, pickOne(targets, drawn), drawn), env)),
  );
}

/** Flags that a command needs, and those that let a payment be settled. */
const flagsOf = ({ options }: Command) =>
  options.filter(
    ({ mandatory, long }) => mandatory || ['--network', '--other-order'].includes(long ?? ''),
  );

async function switchOffTriggers(): Promise<void> {
  for (const [table, names] of Object.entries(TRIGGERS)) {
    for (const name of names) {
      await sql`alter table ${sql.table(table)} disable trigger ${sql.id(name)}`.execute(
        stage.service.db,
      );
    }
  }
}

describe('none is', () => {
  beforeAll(async () => {
    stage = await setStage(PRODUCTION);
    await switchOffTriggers();
  });
  afterAll(() => stage.service.close());

  test('by any route, though the rule of the service holds alone', async () => {
    await tryRoutes();
    const failures = stage.service.logs.filter(({ level }) => /error|fatal/.test(String(level)));
    expect(failures).toEqual([]);
  });

  test('by any command, though the rule of the service holds alone', async () => {
    await tryCommands();
  });
});

describe('where the rule allows it', () => {
  beforeAll(async () => {
    stage = await setStage(FORGETFUL);
  });
  afterAll(() => stage.service.close());

  test('the triggers of the database hold alone', async () => {
    await tryRoutes(stage.routes.filter(namesPayment));
  });

  test('and without them each way to simulate does', async () => {
    await switchOffTriggers();
    const ways = stage.routes.filter(
      route =>
        namesPayment(route) &&
        /(simulate|clock|sandbox\/:token)$/.test(route.url) &&
        !route.url.startsWith('/external'),
    );
    expect(ways).toHaveLength(4);
    for (const way of ways) {
      await expect(tryRoutes([way]), way.url).rejects.toThrow('Property failed');
    }
  });
});
