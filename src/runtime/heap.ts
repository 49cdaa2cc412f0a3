import { setFlagsFromString } from 'node:v8';

/**
 * How much the old part of the heap may grow over what is alive in it before it is collected, in
 * percent. V8 on its own lets it grow by a quarter, which takes 5 s under load, and what collects it
 * competes with requests for the processors for 50 ms. On a quiet machine of two, p99 of reads is
 * then eight to ten times the median, and three to four times with fewer collections. With 200 percent
 * the resident memory, garbage included, of a run of ten minutes differed by a sixth between quarters.
 */
const GROWTH_PERCENT = 100;

/**
 * Makes collections of the whole heap rare. What a process that has nothing to do keeps is collected
 * all the same, and a limit of the heap's size holds as before.
 */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}

/**
 * Keeps what a request allocates among the young objects. V8 allocates among the old ones what mostly
 * lived on so far, and in a process that waited for its first load for half a minute takes objects of
 * requests for such: there each keeps what it refers to until the next collection of the whole heap.
 * Collections of young objects took 6 to 18 ms in place of 1 to 2 then, and p99 of reads 22 to 40 ms in
 * place of 5 to 19.
 */
export function keepRequestsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
