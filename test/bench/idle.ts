import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Finding } from './measure.ts';
import { type ServiceState, startService } from './processes.ts';
import { type Resources, withResources } from './resources.ts';

/** Time for starting up to end, and time of the measurement, in milliseconds. */
const SETTLING_MS = 10_000;
const MEASURED_MS = 20_000;
/** Clock ticks a second in /proc on Linux, whatever the kernel's own. */
const TICKS = 100;

/** Measures what the API with its worker costs while there is nothing to do. */
export function idle({ signal }: Resources, state: ServiceState): Promise<Finding> {
  return withResources(signal, async resources => {
    const { pid } = await startService(resources, 'idle-service', state, {
      scriptArguments: ['--with-worker'],
    });
    await sleep(SETTLING_MS, undefined, { signal });
    const before = await cpuSeconds(pid);
    await sleep(MEASURED_MS, undefined, { signal });
    const seconds = (await cpuSeconds(pid)) - before;
    return {
      subject: 'CPU of the idle API with its worker, in percent of a core',
      measured: `${(seconds * 1000).toFixed(0)} ms in ${MEASURED_MS / 1000} s`,
      value: (100 * seconds * 1000) / MEASURED_MS,
      goal: { relation: '<=', value: 1 },
    };
  });
}

/** User and system time of a process with all its threads. */
async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The process's name comes second, in parentheses, and may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
