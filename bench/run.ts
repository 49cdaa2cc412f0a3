/**
 * `npm run bench [-- SUBJECT ...]`: measures some subjects, or all of them, one after the other. Exits
 * with status 1 if a goal is missed or a measurement is void. See settings.ts for its environment.
 */
import { type Finding, report, VoidRun } from './measure.ts';
import { ProgramMissing } from './required-programs.ts';
import { type Resources, withResources } from './resources.ts';

type Bench = (resources: Resources) => Promise<Finding[]>;

const SUBJECTS: Readonly<Record<string, () => Promise<{ readonly bench: Bench }>>> = {
  cpu: () => import('./cpu.ts'),
  request: () => import('./request.ts'),
  create: () => import('./create.ts'),
  growth: () => import('./growth.ts'),
  pages: () => import('./pages.ts'),
  soak: () => import('./soak.ts'),
  events: () => import('./events.ts'),
  start: () => import('./start.ts'),
  settlement: () => import('./settlement.ts'),
  day: () => import('./day.ts'),
  calls: () => import('./daily-calls.ts'),
  truth: () => import('./truth.ts'),
  failover: () => import('./failover.ts'),
  'redis-failover': () => import('./redis-failover.ts'),
};

const subjects = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SUBJECTS);
if (!subjects.every(subject => Object.hasOwn(SUBJECTS, subject))) {
  process.stderr.write(`Usage: npm run bench [-- ${Object.keys(SUBJECTS).join(' | ')}]\n`);
  process.exit(2);
}

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => stop.abort(new Error(`ended by ${name}`)));
}

const findings: Finding[] = [];
let failed = false;
for (const subject of subjects) {
  if (stop.signal.aborted) break;
  process.stdout.write(`${subject}\n`);
  try {
    const { bench } = await load(subject);
    findings.push(...(await withResources(stop.signal, bench)));
  } catch (error) {
    failed = true;
    process.stderr.write(`${explain(subject, error)}\n`);
    if (error instanceof ProgramMissing) break;
  }
}
if (!report(findings) || failed) process.exitCode = 1;
// Interrupted work may run for minutes more.
if (stop.signal.aborted) process.exit(1);

function load(subject: string): Promise<{ readonly bench: Bench }> {
  const found = SUBJECTS[subject];
  if (found === undefined) throw new Error(`there is no subject ${subject}`);
  return found();
}

function explain(subject: string, error: unknown): string {
  if (error instanceof VoidRun) return `${subject} is void: ${error.message}`;
  if (error instanceof ProgramMissing || stop.signal.aborted) return String(error);
  return `${subject} failed: ${error instanceof Error ? error.stack : String(error)}`;
}
