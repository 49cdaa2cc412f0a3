import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setUser } from '#accounts/users.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addMerchantUser, open, submit, type Visitor } from '../../helpers/panel.ts';
import { runs } from '../../helpers/property-runs.ts';

const MINUTE_MS = 60_000;

/** What somebody is granted in an account, and what they did since, in a few words. */
interface Grant {
  role: 'admin' | 'member';
}

type Act =
  | { readonly kind: 'grant'; readonly who: number; readonly role: Grant['role'] }
  | { readonly kind: 'set status'; readonly who: number; readonly isActive: boolean }
  | { readonly kind: 'sign out'; readonly who: number; readonly replica: number }
  | { readonly kind: 'wait'; readonly minutes: number }
  | {
      readonly kind: 'ask';
      readonly who: number;
      readonly account: number;
      readonly what: 'read' | 'manage';
      readonly replica: number;
    };

const PEOPLE = 3;
const who = fc.nat(PEOPLE - 1);
const replica = fc.nat(1);
const role = fc.constantFrom<Grant['role'][]>('admin', 'member');
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('grant' as const), who, role }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('set status' as const),
      who,
      isActive: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sign out' as const), who, replica }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      minutes: fc.constantFrom(1, 4, 10, 59, 60, 300),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      who,
      account: fc.nat(1),
      what: fc.constantFrom('read' as const, 'manage' as const),
      replica,
    }),
  },
);

let replicas: readonly TestApp[];
let accounts: readonly string[];
let people: (Visitor & { readonly userId: string })[];

beforeAll(async () => {
  const first = await startTestApp();
  replicas = [first, await startTestApp({ beside: first })];
});
afterAll(async () => {
  for (const service of replicas.toReversed()) await service.close();
});

const first = () => replicaOf(0);

function replicaOf(index: number): TestApp {
  const service = replicas[index];
  if (service === undefined) throw new Error(`there is no replica ${index}`);
  return service;
}

/** Adds people to the first account; the second has none. */
async function begin(): Promise<void> {
  const own = await addMerchant(first());
  const other = await addMerchant(first());
  accounts = [own.merchant.id, other.merchant.id];
  people = [];
  for (let index = 0; index < PEOPLE; index++) {
    people.push(await addMerchantUser(first(), own.merchant.id, 'member'));
  }
}

/** The expected response to a request, by the model. */
function expected(
  { role }: Grant,
  { account, what }: Extract<Act, { kind: 'ask' }>,
  session: { readonly isOpen: boolean; readonly isRecent: boolean },
): string {
  if (!session.isOpen) return 'signs in';
  if (account !== 0) return 'is not found';
  if (what === 'read') return 'is shown';
  if (role !== 'admin') return 'is refused';
  return session.isRecent ? 'is shown' : 'confirms';
}

async function answerTo({ who, account, what, replica }: Extract<Act, { kind: 'ask' }>) {
  const path = `/panel/merchants/${accounts[account]}`;
  const { cookie = '' } = people[who] ?? {};
  const service = replicaOf(replica);
  const { statusCode, body } =
    what === 'read'
      ? await open(service, path, { cookie })
      : // A name that is refused, so that nothing changes.
        await submit(service, `${path}/settings/branches`, { name: ' ' }, { cookie });
  if (body.includes('confirmation-code')) return 'confirms';
  const answers = { 200: 'is shown', 422: 'is shown', 303: 'signs in' };
  return { ...answers, 403: 'is refused', 404: 'is not found' }[statusCode] ?? statusCode;
}

test('grants, demotions, deactivations and sign-outs take effect on the next request, on every replica', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 25 }), async acts => {
      await begin();
      const { clock } = first();
      const start = clock.now;
      const grants: Grant[] = people.map(() => ({ role: 'member' }));
      const seen = people.map(() => start);
      const signedOut = new Set<number>();
      for (const each of acts) {
        if (each.kind === 'wait') {
          clock.now += each.minutes * MINUTE_MS;
          continue;
        }
        const { userId = '', cookie = '' } = people[each.who] ?? {};
        const grant = grants[each.who];
        if (grant === undefined) continue;
        if (each.kind === 'grant') {
          await setUser(operatorOf(first()), userId, { role: each.role });
          grant.role = each.role;
        } else if (each.kind === 'set status') {
          const status = each.isActive ? 'active' : 'inactive';
          await setUser(operatorOf(first()), userId, { status });
          if (!each.isActive) signedOut.add(each.who);
        } else if (each.kind === 'sign out') {
          await submit(replicaOf(each.replica), '/panel/sign-out', {}, { cookie });
          signedOut.add(each.who);
        } else {
          const isOpen =
            !signedOut.has(each.who) &&
            clock.now - (seen[each.who] ?? 0) < 60 * MINUTE_MS &&
            clock.now - start < 12 * 60 * MINUTE_MS;
          const isRecent = clock.now - start < 10 * MINUTE_MS;
          expect(await answerTo(each)).toBe(expected(grant, each, { isOpen, isRecent }));
          if (isOpen) seen[each.who] = clock.now;
        }
      }
    }),
    { seed: 1, numRuns: runs(40) },
  );
});
