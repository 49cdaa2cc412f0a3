import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { clusterMissing } from '../test/deployment/cluster/programs.ts';

/** A program is missing that npm does not install. */
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
 * Debian installs pgbench with each server, outside of PATH.
 * @throws ProgramMissing
 */
export function findPgbench(): string {
  const beside = globSync('/usr/lib/postgresql/*/bin/pgbench').toSorted().reverse();
  return find('pgbench', ['pgbench', ...beside], 'apt-get install postgresql-contrib');
}

/**
 * Checks that the programs the bench needs are installed; call it before anything is started.
 * @throws ProgramMissing
 */
export function requirePrograms(): void {
  findWrk();
  findPgbench();
  find('redis-server', ['redis-server'], 'apt-get install redis-server');
}

/** @throws ProgramMissing */
export function requireArchiver(): void {
  find('tar', ['tar'], 'apt-get install tar');
  find('zstd', ['zstd'], 'apt-get install zstd');
}

/** @throws ProgramMissing */
export function requireSentinel(): void {
  find('redis-server', ['redis-server'], 'apt-get install redis-server');
  find('redis-sentinel', ['redis-sentinel'], 'apt-get install redis-sentinel');
}

/**
 * Checks that a cluster of PostgreSQL servers can be started.
 * @throws ProgramMissing
 */
export function requireCluster(): void {
  const missing = clusterMissing();
  if (missing !== undefined) throw new ProgramMissing('A part of the cluster', missing);
}

function find(program: string, places: readonly string[], install: string): string {
  // No flag makes wrk succeed, so the exit status is ignored.
  const found = places.find(place => spawnSync(place, ['--version']).error === undefined);
  if (found === undefined) throw new ProgramMissing(program, install);
  return found;
}
