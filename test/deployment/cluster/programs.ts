import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';

/** Required programs besides npm's packages, by the Debian package that has them. */
const PROGRAMS = {
  patroni: 'patroni',
  etcd: 'etcd-server',
  haproxy: 'haproxy',
  setpriv: 'util-linux',
} as const;
/** Debian installs servers in folders that only root's PATH has, and PostgreSQL's outside of every PATH. */
const FOLDERS = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];

/** The folder of PostgreSQL's programs; the embedded server lacks those with which Patroni creates standbys. */
export function findPostgres(): string | undefined {
  const [newest] = globSync('/usr/lib/postgresql/*/bin/pg_rewind').toSorted().reverse();
  return newest?.replace('/pg_rewind', '');
}

/** Why no cluster can run here, for the names of tests that need one; undefined if it can. */
export function clusterMissing(): string | undefined {
  const missing: string[] = Object.entries(PROGRAMS)
    .filter(([program]) => !FOLDERS.some(folder => existsSync(join(folder, program))))
    .map(([, name]) => name);
  if (findPostgres() === undefined) missing.push('postgresql');
  return missing.length === 0 ? undefined : `needs apt-get install ${missing.join(' ')}`;
}
