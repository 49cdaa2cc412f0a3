import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { watchStalls } from '../helpers/stalls.ts';
import { Cluster } from './cluster/cluster.ts';
import { type Deployed, deployOn } from './cluster/deployed.ts';
import { longestGap } from './cluster/load.ts';
import { clusterMissing } from './cluster/programs.ts';

/** The files of deploy/patroni on two machines, whose primary crashes under load. */

/** In seconds: the kit's settings take too long for a test. */
const TTL = 10;
const SETTINGS = { ttl: TTL, loop_wait: 1, retry_timeout: 3 };
/** For waits that a busy machine may prolong. */
const PATIENT = { timeout: 40_000, interval: 20 };
/** For a test with several of these waits. */
const PATIENCE = { timeout: 480_000 };
/** How often the primary is killed at most. */
const CRASHES_MAXIMUM = 3;
/** How much longer than the TTL writes may be unavailable, in seconds. */
const GRACE = 10;

const missing = clusterMissing();

describe.skipIf(missing !== undefined)(missing ?? 'a cluster of the kit', PATIENCE, () => {
  let cluster: Cluster;
  let deployed: Deployed;
  const stalls = watchStalls();

  beforeAll(async () => {
    cluster = await Cluster.start({ members: 2, coordinators: 1, settings: SETTINGS });
    deployed = await deployOn(cluster, { rate: 5, revocationMs: 200, now: stalls.now });
  });
  afterAll(async () => {
    stalls.stop();
    await deployed?.stop();
    await cluster?.stop();
  });

  test('keeps its secrets from etcd and HAProxy', () => {
    for (const machine of cluster.machines) {
      expect(machine.environmentOf('eps-patroni.service')).toHaveProperty(
        'PATRONI_RESTAPI_PASSWORD',
      );
      for (const unit of ['eps-etcd.service', 'eps-haproxy.service'] as const) {
        const names = Object.keys(machine.environmentOf(unit));
        expect(names.filter(name => name.includes('PASSWORD'))).toEqual([]);
      }
    }
  });

  test('can be changed only by its operators', async () => {
    const primary = await cluster.primary();
    const init = { method: 'PATCH', body: '{"synchronous_mode":false}' };
    expect((await primary.ask('/config', init)).status).toBe(401);
    expect(await cluster.command(['list'])).toMatch(/Leader .*\n.* Sync Standby /);
  });

  test('loses nothing when its primary crashes, and soon accepts writes again', async () => {
    const { ledger, load } = deployed;
    await expect.poll(() => ledger.revoked.size, PATIENT).toBeGreaterThan(0);
    await expect.poll(() => ledger.created.size, PATIENT).toBeGreaterThan(20);
    let from = 0;
    // If the host stalls, the standby may not answer Patroni in time; the primary then restarts in place, and is killed
    // again.
    for (let crashes = 1, isReplaced = false; !isReplaced; crashes += 1) {
      expect(crashes).toBeLessThanOrEqual(CRASHES_MAXIMUM);
      // What its standby then lacks was not confirmed, so it may still be promoted.
      await cluster.outrun(2_000 * SETTINGS.loop_wait);
      from = stalls.now();
      isReplaced = await cluster.crashPrimary();
    }
    const newest = () => Math.min(...[...load.confirmed.values()].map(all => all.at(-1) ?? 0));
    const revoked = ledger.revoked.size;
    // The new primary has no standby until the old one becomes that.
    await cluster.until('a standby', () => cluster.isWhole());
    const wholeAt = stalls.now();
    await expect.poll(() => newest(), PATIENT).toBeGreaterThan(wholeAt);
    await expect.poll(() => ledger.revoked.size, PATIENT).toBeGreaterThan(revoked);
    const to = stalls.now();
    await load.stop();
    for (const moments of load.confirmed.values()) {
      expect(longestGap(moments, from, to)).toBeLessThan((TTL + GRACE) * 1_000);
    }
    await expect.poll(() => ledger.isTold(), PATIENT).toBe(true);
    const session = await cluster.openSession('eps');
    // A primary that restarted would show what its standby may lack.
    expect((await session.query('show restart_after_crash')).rows).toEqual([
      { restart_after_crash: 'off' },
    ]);
    expect(await ledger.judge(session, true)).toEqual({
      lost: 0,
      doubled: 0,
      accepted: 0,
      depositLost: 0,
      eventLost: 0,
    });
    await session.end();
  });

  test('restarts no process of the service', async () => {
    expect(await Promise.all(deployed.processes.map(it => it.stop('SIGINT')))).toEqual([0, 0, 0]);
  });
});
