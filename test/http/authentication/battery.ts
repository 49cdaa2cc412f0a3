import { beforeAll, describe } from 'vitest';
import { addKey } from '../../helpers/accounts.ts';
import type { TestApp } from '../../helpers/app.ts';
import { testAccountState } from './account-state.ts';
import { testHeaders } from './headers.ts';
import { testKeyLifecycle } from './key-lifecycle.ts';
import { testOrder } from './order.ts';
import { testReplay } from './replay.ts';
import { testSignature } from './signature.ts';
import {
  type Account,
  createAccount,
  type Delivery,
  deliver,
  expectPassed,
  partsOf,
  type SignedRoute,
} from './subject.ts';

/** A route under test with an account that may use it; use them only inside a test. */
export interface Subject {
  readonly route: SignedRoute;
  readonly service: TestApp;
  /** Shared by all tests of the route: do not change it. */
  readonly account: Account;
  /** Sends the route's valid request, with these changes. */
  send(change?: Partial<Delivery>, account?: Account): ReturnType<typeof deliver>;
  /** The same account with another key, for a test that changes or uses up the key. */
  newKey(): Promise<Account>;
  /** A separate account for a test that changes it; by default of the route's first kind. */
  newAccount(kind?: Account['kind']): Promise<Account>;
  expectPassed(answer: Awaited<ReturnType<typeof deliver>>): void;
}

/** Everything that authentication guarantees, for one route. Call it once for each signed route. */
export function testAuthentication(route: SignedRoute, getService: () => TestApp): void {
  describe(`${route.method} ${route.url}`, () => {
    const subject = openSubject(route, getService);
    testHeaders(subject);
    testSignature(subject);
    testReplay(subject);
    testKeyLifecycle(subject);
    testAccountState(subject);
    testOrder(subject);
  });
}

/** What depends on the nonce store, for one route. */
export function testNonces(route: SignedRoute, getService: () => TestApp): void {
  describe(`${route.method} ${route.url}`, () => testReplay(openSubject(route, getService)));
}

function openSubject(route: SignedRoute, getService: () => TestApp): Subject {
  let account: Account;
  const [kind = 'merchant'] = route.principals;
  const subject: Subject = {
    route,
    get service() {
      return getService();
    },
    get account() {
      return account;
    },
    send: (change = {}, sender = account) =>
      deliver(getService(), {
        credentials: sender.credentials,
        parts: partsOf(route, sender),
        ...change,
      }),
    newKey: async () => ({
      ...account,
      credentials: await addKey(getService(), account.owner),
    }),
    newAccount: (other = kind) => createAccount(getService(), other),
    expectPassed: answer => expectPassed(route, answer),
  };
  beforeAll(async () => {
    account = await subject.newAccount();
  });
  return subject;
}
