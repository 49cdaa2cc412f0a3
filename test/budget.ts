import type { Reporter, TestModule } from 'vitest/node';

/** The longest that a test may take unless `LONG` says why it takes longer, in milliseconds. */
const BUDGET_MS = 3_000;
/**
 * A test that takes this share of the time of all tests fails the run, about three times the budget: a slow machine makes
 * all of them longer alike.
 */
const FAILING_SHARE = 0.01;
/** Fewer tests than this are no whole run, whose time could be shared. */
const WHOLE_RUN = 5_000;
/** How many of the slowest tests are reported. */
const TOLD = 10;

const PROCESSES = 'starts several processes of the service, each a second of CPU';
const LIMITS = 'waits for limits of time that processes have in production';
const FAILOVER = 'waits until a server counts as lost, and another one has taken over';
const REDIS_CLUSTER = 'starts a Redis Cluster, and waits until it is whole';
const CRAWL = 'opens page after page in a browser';
const EXAMPLES = 'needs many examples to find what it looks for';

/** Tests, or whole files, that may take longer, by their names in the report, with the reason. */
export const LONG: Readonly<Record<string, string>> = {
  'test/accounts/keys/vanished-listeners.test.ts':
    'a change waits for the lease of replicas that hear nothing',
  'test/bench/load.test.ts': 'loads a server for whole seconds',
  'test/browser/checkout.test.ts': CRAWL,
  'test/browser/panel-journeys.test.ts': CRAWL,
  'test/browser/panel.test.ts': CRAWL,
  'test/chains/nodes/large-responses.test.ts':
    'a process with a small heap reads the longest responses there are',
  'test/chains/solana/flood.test.ts': EXAMPLES,
  'test/cli/migrate.test.ts':
    'makes a PostgreSQL cluster, and starts processes of the command in turn',
  'test/cli/node.test.ts': 'runs command after command against a real node',
  'test/clients/javascript/installed-mp.test.ts': 'starts the installed command as a merchant does',
  'test/clients/libraries.test.ts': 'pastes the page of each language, whose programs are compiled',
  'test/deployment/database-roles.test.ts': PROCESSES,
  'test/deployment/embedded.test.ts': PROCESSES,
  'test/deployment/failover.test.ts': FAILOVER,
  'test/deployment/hanging-database.test.ts': LIMITS,
  'test/deployment/old-primary.test.ts':
    'waits for the look for the primary, every 20 s with one server',
  'test/deployment/pgbouncer.test.ts': PROCESSES,
  'test/deployment/replicas.test.ts': PROCESSES,
  'test/deployment/replicated.test.ts': FAILOVER,
  'test/deployment/secrets.test.ts': LIMITS,
  'test/deployment/shutdown.test.ts': 'a balancer asks each second',
  'test/deployment/systemd.test.ts': PROCESSES,
  'test/deployment/two-releases.test.ts': PROCESSES,
  'test/deployment/wrong-clock.test.ts': PROCESSES,
  'test/http/open-telemetry.test.ts': LIMITS,
  'test/payments/processors/stripe-creation.test.ts > when Stripe > hangs, the response comes in time and frees everything':
    LIMITS,
  'test/payments/webhooks/enable.test.ts > at most 10,000 are queued again, the oldest, and redelivering takes the rest':
    'inserts more than are queued again',
  'test/payments/webhooks/lost-database.test.ts': LIMITS,
  'test/runtime/development/embedded-postgres.test.ts': 'makes PostgreSQL clusters',
  'test/signing/forgotten-nonces.test.ts': FAILOVER,
  'test/signing/redis-cluster.test.ts': FAILOVER,
  'test/signing/redis-nonces.test.ts': REDIS_CLUSTER,
  'test/signing/redis-sentinel.test.ts': FAILOVER,
  'test/signing/redis-tls.test.ts': REDIS_CLUSTER,
  'test/storage/database/change-feed.test.ts > a feed > renews seldom while it is not asked, and at once when it is':
    'sees pauses of a second pass',
  'test/surfaces/api/fuzz.test.ts': EXAMPLES,
  'test/surfaces/docs/client-examples.test.ts': 'runs the examples as they are, with their pauses',
  'test/surfaces/panel/fuzz.test.ts': EXAMPLES,
};

/** A test of a run. */
interface TimedTest {
  /** Path of its file and its name, including its suites, joined by ` > `. */
  readonly name: string;
  readonly milliseconds: number;
}

/** The report of a run. */
interface Judgement {
  readonly lines: readonly string[];
  readonly fails: boolean;
}

/**
 * Names the slowest tests of a run, tests over the budget without a reason, and reasons whose test no longer exists
 * in its file.
 */
export function judge(
  tests: readonly TimedTest[],
  reasons: Readonly<Record<string, string>> = LONG,
): Judgement {
  const slowest = tests.toSorted((a, b) => b.milliseconds - a.milliseconds);
  const over = slowest.filter(
    ({ name, milliseconds }) =>
      milliseconds > BUDGET_MS && !(name in reasons) && !(fileOf(name) in reasons),
  );
  const all = tests.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  const longest = tests.length < WHOLE_RUN ? Number.POSITIVE_INFINITY : all * FAILING_SHARE;
  const names = new Set(tests.map(({ name }) => name));
  const files = new Set(tests.map(({ name }) => fileOf(name)));
  const gone = Object.keys(reasons).filter(
    name => files.has(fileOf(name)) && !files.has(name) && !names.has(name),
  );
  return {
    lines: [
      ...section('The slowest tests:', slowest.slice(0, TOLD).map(lineOf)),
      ...section(
        `Over ${BUDGET_MS / 1000} s, and not in test/budget.ts with a reason:`,
        over.map(lineOf),
      ),
      ...section('In test/budget.ts, and gone:', gone),
    ],
    fails: gone.length > 0 || over.some(({ milliseconds }) => milliseconds > longest),
  };
}

const fileOf = (name: string) => name.split(' > ')[0] ?? '';

const lineOf = ({ name, milliseconds }: TimedTest) =>
  `${(milliseconds / 1000).toFixed(1).padStart(6)} s  ${name}`;

const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : [title, ...lines.map(line => `  ${line}`), ''];

/** Prints the report at the end of a run. */
export const budgetReporter: Reporter = {
  onTestRunEnd(modules) {
    const { lines, fails } = judge(modules.flatMap(testsOf));
    process.stdout.write(`${lines.join('\n')}\n`);
    if (fails) process.exitCode = 1;
  },
};

function testsOf(module: TestModule): TimedTest[] {
  return [...module.children.allTests()].map(test => ({
    name: `${module.relativeModuleId} > ${test.fullName}`,
    milliseconds: test.diagnostic()?.duration ?? 0,
  }));
}
