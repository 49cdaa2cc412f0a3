import { setTimeout as sleep } from 'node:timers/promises';
import { SOON } from './soon.ts';

/** Waits for a condition like `vi.waitUntil` with SOON, but also outside of tests. */
export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + SOON.timeout;
  while (!(await holds().catch(() => false))) {
    if (performance.now() > giveUpAt) throw new Error(`does not become true: ${holds}`);
    await sleep(SOON.interval);
  }
}
