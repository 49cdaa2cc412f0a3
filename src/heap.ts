import { setFlagsFromString } from 'node:v8';

/**
 * How much the old part of the heap may grow over what is alive in it before it is collected, in
 * percent. V8 on its own lets it grow by a quarter, which takes 5 s under load, and what collects it
 * competes with requests for the processors for 50 ms: these are what the 99th percentile shows then,
 * six to nine times the median. Without them it is three to four times. It takes about 50 MB; with
 * 200 percent the memory of a run of ten minutes differed by a sixth between its quarters.
 */
const GROWTH_PERCENT = 100;

/**
 * Makes collections of the whole heap rare. What a process that has nothing to do keeps is collected
 * all the same, and a limit of the heap's size holds as before.
 */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
