import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { VoidRun } from './measure.ts';
import { findPgbench } from './required-programs.ts';
import type { Resources } from './resources.ts';
import type { Contender } from './rounds.ts';
import { POOL_SIZE, SECONDS } from './settings.ts';
import type { RepeatedStatement } from './statements.ts';

/** Name of the row of values that each execution makes for itself. */
const FRESH = 'fresh_values';

/**
 * pgbench with statements drawn at random, prepared, on as many connections as the service has.
 * @param onDone Gets the number of executions of each run.
 */
export async function pgbenchContender(
  { directory, signal }: Resources,
  options: {
    readonly name: string;
    readonly url: string;
    readonly statements: readonly RepeatedStatement[];
    readonly onDone: (executions: number) => void;
  },
): Promise<Contender> {
  const program = findPgbench();
  const scripts = options.statements.map((_, index) => join(directory, `pgbench-${index}.sql`));
  for (const [index, statement] of options.statements.entries()) {
    await writeFile(scripts[index] ?? '', toScript(statement));
  }

  async function run(): Promise<number> {
    const args = [
      ...['-n', '-M', 'prepared', '-c', String(POOL_SIZE), '-j', '1', '-T', String(SECONDS)],
      ...scripts.flatMap(script => ['-f', script]),
      options.url,
    ];
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], signal });
    const [output, problems, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    const executions = /actually processed: (\d+)/.exec(output)?.[1];
    const failed = /failed transactions: (\d+)/.exec(output)?.[1] ?? '0';
    const rate = /^tps = ([\d.]+)/m.exec(output)?.[1];
    if (status !== 0 || failed !== '0' || executions === undefined || rate === undefined) {
      throw new VoidRun(`pgbench failed: ${problems}${output}`);
    }
    options.onDone(Number(executions));
    return Number(rate);
  }
  return { name: options.name, warmUp: async () => void (await run()), round: run };
}

/** A statement with its values in it, the fresh ones taken from a row made in front of it. */
function toScript({ text: statement, values, unique, replaced }: RepeatedStatement): string {
  const columns = Object.entries(unique).map(([name, made]) => `${made} as "${name}"`);
  const inlined = statement.replaceAll(/\$(\d+)/g, (_, number: string) => {
    const column = replaced[Number(number)];
    return column === undefined
      ? toLiteral(values[Number(number) - 1])
      : `(select "${column}" from ${FRESH})`;
  });
  const rest = inlined.trim().replace(/^with\s/i, '');
  const joint = rest === inlined.trim() ? '' : ',';
  const fresh = `with ${FRESH} as materialized (select ${columns.join(', ')})`;
  return `${`${fresh}${joint} ${rest}`.replaceAll(/\s+/g, ' ')};\n`;
}

/** A literal without colons, which pgbench would take for variables. */
function toLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number') return String(value);
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`;
  if (Array.isArray(value)) return `array[${value.map(toLiteral).join(',')}]`;
  const plain = pg.escapeLiteral(value instanceof Date ? value.toISOString() : String(value));
  if (plain.includes('\\')) throw new Error('a value with a backslash has no literal here');
  return plain.includes(':') ? `U&${plain.replaceAll(':', '\\003A')}` : plain;
}
