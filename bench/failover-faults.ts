import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../test/deployment/cluster/cluster.ts';
import type { Member } from '../test/deployment/cluster/member.ts';

/** How long the link is silent before its primary dies, in milliseconds. */
const SILENCE_MS = 6_500;
/** How long etcd is unavailable, in milliseconds: longer than a primary keeps its key. */
const CUT_MS = 30_000;
/** After how long systemd restarts what has ended, in milliseconds. */
const RESTART_MS = 2_000;

/** A fault in a part of the cluster, and its repair. */
export interface Fault {
  readonly name: string;
  /** How long it lasts before anything can take over, in milliseconds. */
  readonly lastsMs: number;
  /** Resolves once the fault has happened and its replacement has taken over. */
  strike(cluster: Cluster): Promise<void>;
  /** Restores what was lost. */
  mend(cluster: Cluster): Promise<void>;
  /** Whether the whole cluster is running again after the repair. */
  readonly isWholeAfter: boolean;
}

/** Each kind of fault, ordered so that the return of a frozen primary is a fault by itself. */
export function faults(): readonly Fault[] {
  let lost: Member | undefined;

  /** Does something to the primary, and waits until there is another. */
  async function replace(cluster: Cluster, act: (primary: Member) => Promise<void>) {
    const primary = await cluster.primary();
    lost = primary;
    await act(primary);
    await cluster.until('another primary', async () => {
      const found = await cluster.find('primary');
      return found !== undefined && found !== primary;
    });
  }

  async function restart() {
    await sleep(RESTART_MS);
    lost?.start();
  }

  return [
    {
      name: 'primary killed',
      lastsMs: 0,
      strike: cluster => replace(cluster, primary => primary.kill()),
      mend: restart,
      isWholeAfter: true,
    },
    {
      name: 'primary frozen',
      lastsMs: 0,
      strike: cluster => replace(cluster, primary => primary.freeze()),
      // It returns in the next round.
      mend: async () => undefined,
      isWholeAfter: false,
    },
    {
      name: 'old primary back',
      lastsMs: 0,
      strike: async () => lost?.thaw(),
      mend: async () => undefined,
      isWholeAfter: true,
    },
    {
      name: 'replication silent, primary killed',
      lastsMs: SILENCE_MS,
      strike: cluster =>
        replace(cluster, async primary => {
          await cluster.outrun(SILENCE_MS);
          await primary.kill();
          await primary.reconnect();
        }),
      mend: restart,
      isWholeAfter: true,
    },
    {
      // For its primary, the same as a standby whose machine has died: silence.
      name: 'synchronous standby frozen',
      lastsMs: 0,
      async strike(cluster) {
        const standby = await cluster.find('sync');
        lost = standby;
        await standby?.freeze();
        await cluster.until('another synchronous standby', async () => {
          const found = await cluster.find('sync');
          return found !== undefined && found !== standby;
        });
      },
      mend: async () => lost?.thaw(),
      isWholeAfter: true,
    },
    {
      name: 'etcd cut',
      lastsMs: 0,
      async strike(cluster) {
        await cluster.setCoordination(false);
        await sleep(CUT_MS);
      },
      mend: cluster => cluster.setCoordination(true),
      isWholeAfter: true,
    },
    {
      name: 'planned switchover',
      lastsMs: 0,
      strike: cluster =>
        replace(cluster, async primary => {
          const heir = await cluster.find('sync');
          const names = ['--master', primary.name, '--candidate', heir?.name ?? ''];
          await cluster.command(['switchover', ...names, '--force']);
        }),
      mend: async () => undefined,
      isWholeAfter: true,
    },
  ];
}
