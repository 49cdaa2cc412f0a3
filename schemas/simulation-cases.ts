/** What can happen to a simulated payment; to one on a US account only `confirm`, `detect`, `fail` and `cancel`. */
export const SIMULATION_CASES = [
  'confirm',
  'detect',
  'under',
  'rest',
  'over',
  'late',
  'duplicate',
  'revert',
  'reorg',
  'fail',
  'cancel',
  'expire',
] as const;

export type SimulationCase = (typeof SIMULATION_CASES)[number];
