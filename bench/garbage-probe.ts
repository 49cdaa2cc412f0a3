/**
 * Loaded into a measured process by `--import`: records its garbage collections from one SIGUSR2 to the
 * next, and then writes them as JSON to the file that the URL's parameter `to` names.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { GCProfiler } from 'node:v8';
import type { Garbage } from './garbage.ts';

const MINOR = ['Scavenge', 'MinorMarkSweep'];

const file = new URL(import.meta.url).searchParams.get('to');
if (file === null) throw new Error('the probe needs a file to write to');
let profiler: GCProfiler | undefined;

process.on('SIGUSR2', () => {
  if (profiler === undefined) {
    profiler = new GCProfiler();
    profiler.start();
    return;
  }
  const { statistics } = profiler.stop();
  profiler = undefined;
  let [minorMicroseconds, majorMicroseconds, allocatedBytes] = [0, 0, 0];
  let left: number | undefined;
  for (const { gcType, cost, beforeGC, afterGC } of statistics) {
    if (MINOR.includes(gcType)) minorMicroseconds += cost;
    else majorMicroseconds += cost;
    // What was allocated before the first collection is unknown.
    if (left !== undefined) allocatedBytes += beforeGC.heapStatistics.usedHeapSize - left;
    left = afterGC.heapStatistics.usedHeapSize;
  }
  const garbage: Garbage = { minorMicroseconds, majorMicroseconds, allocatedBytes };
  writeFileSync(`${file}.part`, JSON.stringify(garbage));
  renameSync(`${file}.part`, file);
});
