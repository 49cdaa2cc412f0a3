import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { VoidRun } from './measure.ts';
import { findPgbench } from './required-programs.ts';
import type { Resources } from './resources.ts';
import type { Contender } from './rounds.ts';
import { POOL_SIZE, SECONDS } from './settings.ts';
import type { RepeatedStatement } from './statements.ts';

/** Name of the row with the values that are unique to each execution. */
const FRESH = 'fresh_values';

/**
 * pgbench with prepared statements in random order, on as many connections as the service has. Calls
 * `onDone` with the number of executions of each run.
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

/** The statement with its values inlined; a CTE before it generates the fresh pieces. */
function toScript({ text: statement, values, fresh }: RepeatedStatement): string {
  const columns = Object.entries(fresh).map(([name, made]) => `${made} as "${name}"`);
  const inlined = statement.replaceAll(/\$(\d+)/g, (_, number) => {
    const pieces = values[number - 1]?.map(piece =>
      typeof piece === 'string' ? toLiteral(piece) : `(select "${piece.fresh}" from ${FRESH})`,
    );
    return `(${pieces?.join(' || ')})`;
  });
  const rest = inlined.trim().replace(/^with\s/i, '');
  const made = `with ${FRESH} as materialized (select ${columns.join(', ')})`;
  return `${`${made}, ${rest}`.replaceAll(/\s+/g, ' ')};\n`;
}

/** A literal without colons, which begin variables in pgbench. */
function toLiteral(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll(':', '\\003A').replaceAll("'", "''");
  return `U&'${escaped}'`;
}
