import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';

/** What the bench needs besides Node and npm's packages is not installed. */
export class ProgramMissing extends Error {
  constructor(program: string, install: string) {
    super(`${program} is not installed. Install it: ${install}`);
    this.name = 'ProgramMissing';
  }
}

/** @throws ProgramMissing */
export function findWrk(): string {
  return find('wrk', ['wrk'], 'apt-get install wrk');
}

/**
 * Debian keeps pgbench out of PATH, one beside each server.
 * @throws ProgramMissing
 */
export function findPgbench(): string {
  const beside = globSync('/usr/lib/postgresql/*/bin/pgbench').toSorted().reverse();
  return find('pgbench', ['pgbench', ...beside], 'apt-get install postgresql-contrib');
}

/**
 * Finds out before anything is started whether everything is there that requests are measured with.
 * @throws ProgramMissing
 */
export function requirePrograms(): void {
  findWrk();
  findPgbench();
  find('redis-server', ['redis-server'], 'apt-get install redis-server');
}

function find(program: string, places: readonly string[], install: string): string {
  // wrk knows no flag that succeeds, so that it runs at all has to do.
  const found = places.find(place => spawnSync(place, ['--version']).error === undefined);
  if (found === undefined) throw new ProgramMissing(program, install);
  return found;
}
