import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';

/** What it takes beside npm's packages, by the Debian package that has it. */
const PROGRAMS = {
  patroni: 'patroni',
  etcd: 'etcd-server',
  haproxy: 'haproxy',
  setpriv: 'util-linux',
} as const;
/** Debian puts servers where only root looks, and PostgreSQL's where nobody does. */
const FOLDERS = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];

/** The folder of PostgreSQL's programs, of which the embedded server lacks those that Patroni makes standbys with. */
export function findPostgres(): string | undefined {
  const [newest] = globSync('/usr/lib/postgresql/*/bin/pg_rewind').toSorted().reverse();
  return newest?.replace('/pg_rewind', '');
}

/** Why there can be no cluster here, to put into the names of tests that need one; undefined if there can. */
export function clusterMissing(): string | undefined {
  const missing: string[] = Object.entries(PROGRAMS)
    .filter(([program]) => !FOLDERS.some(folder => existsSync(join(folder, program))))
    .map(([, name]) => name);
  if (findPostgres() === undefined) missing.push('postgresql');
  return missing.length === 0 ? undefined : `needs apt-get install ${missing.join(' ')}`;
}
