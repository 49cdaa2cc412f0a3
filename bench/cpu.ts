import { join } from 'node:path';
import { createDatabase, postgresPid, startPostgres, UNDISTURBED } from './databases.ts';
import { beginGarbage, endGarbage, probeArguments } from './garbage.ts';
import { prepareLoad } from './load.ts';
import { type Finding, median, medianRatio } from './measure.ts';
import { addMerchants, type BenchMerchants } from './merchants.ts';
import { familyTime, processTimes } from './process-times.ts';
import { redisPid, startRedis, startService } from './processes.ts';
import { requirePrograms } from './required-programs.ts';
import type { Resources } from './resources.ts';
import { AGAINST, CONNECTIONS, ROUNDS } from './settings.ts';
import type { Traffic } from './signed-requests.ts';
import { creates, firstPages, gets, unsigned } from './traffic.ts';

/** With three checkouts, five minutes. */
const TURNS = Math.min(ROUNDS, 5);
const LEG_SECONDS = 2;
/** Requests signed for a leg. */
const SUPPLY = 25_000 * LEG_SECONDS;

const KINDS: readonly {
  readonly name: string;
  readonly traffic: (merchants: BenchMerchants['merchants']) => Traffic;
  /** The most time of minor collections per request, in microseconds; null without a goal. */
  readonly minorMicroseconds: number | null;
}[] = [
  { name: 'GET', traffic: gets, minorMicroseconds: 2 },
  // Before the creations: a list begins with the payment that was created last.
  { name: 'list', traffic: firstPages, minorMicroseconds: 4 },
  { name: 'unsigned GET', traffic: unsigned, minorMicroseconds: null },
  { name: 'create', traffic: creates, minorMicroseconds: null },
];

/** What is measured, for each request. */
const FIGURES = {
  main: 'CPU of the main thread, µs',
  process: 'CPU of all threads, µs',
  postgres: 'CPU of PostgreSQL, µs',
  redis: 'CPU of Redis, µs',
  minor: 'minor collections, µs',
  major: 'major collections, µs',
  allocated: 'allocated, KiB',
  calls: 'reads and writes, system calls',
  p99: 'p99 at saturation, ms',
} as const;
type Figures = Readonly<Record<keyof typeof FIGURES, number>>;

interface Contender {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  readonly probe: string;
  readonly legs: Figures[];
}

/** The servers that all contenders share. */
interface Shared {
  readonly postgres: number;
  readonly redis: number;
}

/**
 * Measures the CPU time of each process per request. Unlike throughput, that depends little on what else the
 * machine does. This tree runs twice: figures that differ between the two mean nothing.
 */
export async function bench(resources: Resources): Promise<Finding[]> {
  requirePrograms();
  const redisUrl = await startRedis(resources);
  const server = await startPostgres(resources, UNDISTURBED);
  const { db, url: databaseUrl } = await createDatabase(resources, server, 'cpu');
  const { merchants, masterKey } = await addMerchants(db);
  const shared = { postgres: await postgresPid(resources), redis: await redisPid(redisUrl) };

  const contenders: Contender[] = [];
  async function add(name: string, options: { readonly root?: string }) {
    const probe = join(resources.memory, `garbage-${contenders.length}`);
    const state = { databaseUrl, masterKey, redisUrl };
    const nodeArguments = probeArguments(probe);
    const service = await startService(resources, name, state, { ...options, nodeArguments });
    contenders.push({ name, ...service, probe, legs: [] });
  }
  await add('this tree', {});
  await add('itself', {});
  for (const root of AGAINST) await add(root, { root });

  const findings: Finding[] = [];
  for (const { name, traffic, minorMicroseconds } of KINDS) {
    const next = traffic(merchants);
    // The first round only warms up.
    for (let round = 0; round <= TURNS; round++) {
      for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
        const figures = await leg(resources, contender, shared, next);
        if (round === 0) contender.legs.length = 0;
        else contender.legs.push(figures);
      }
    }
    findings.push(...compareLegs(name, contenders, minorMicroseconds));
    process.stdout.write(`${name} is measured\n`);
  }
  return findings;
}

/** Sends requests for a while, and divides the CPU time by the number of responses. */
async function leg(
  resources: Resources,
  { port, pid, probe }: Contender,
  shared: Shared,
  traffic: Traffic,
): Promise<Figures> {
  const read = async () => ({
    service: await processTimes(pid),
    postgres: await familyTime(shared.postgres),
    redis: await familyTime(shared.redis),
  });
  const plan = { port, traffic, connections: CONNECTIONS, seconds: LEG_SECONDS, supply: SUPPLY };
  const send = await prepareLoad({ ...plan, windowSeconds: 1 }, resources);
  beginGarbage(pid);
  const before = await read();
  const { requests, windows } = await send();
  const after = await read();
  const garbage = await endGarbage(pid, probe);
  return {
    main: (after.service.mainThread - before.service.mainThread) / requests,
    process: (after.service.allThreads - before.service.allThreads) / requests,
    postgres: (after.postgres - before.postgres) / requests,
    redis: (after.redis - before.redis) / requests,
    minor: garbage.minorMicroseconds / requests,
    major: garbage.majorMicroseconds / requests,
    allocated: garbage.allocatedBytes / 1024 / requests,
    calls: (after.service.readsAndWrites - before.service.readsAndWrites) / requests,
    p99: median(windows.map(window => window.p99)),
  };
}

/** The figures of the first contender, next to those of the others. */
function compareLegs(
  kind: string,
  [first, ...others]: readonly Contender[],
  minorMicroseconds: number | null,
): Finding[] {
  const values = (contender: Contender | undefined, figure: keyof Figures) =>
    (contender?.legs ?? []).map(figures => figures[figure]);
  return Object.entries(FIGURES).map(([key, label]) => {
    const figure = key as keyof Figures;
    const own = values(first, figure);
    const beside = others.map(other => {
      const theirs = values(other, figure);
      return `${medianRatio(own, theirs).toFixed(2)} of ${other.name} (${median(theirs).toFixed(2)})`;
    });
    return {
      subject: `${kind}: ${label}`,
      measured: beside.join(', '),
      value: median(own),
      goal:
        figure === 'minor' && minorMicroseconds !== null
          ? { relation: '<=', value: minorMicroseconds }
          : null,
    };
  });
}
