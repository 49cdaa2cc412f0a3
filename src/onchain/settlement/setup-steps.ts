import type { SetupFinding, SetupFindingArguments } from './setup-findings.ts';

/** Configuration of the process that runs the checks. */
export interface ServiceSetup {
  /** Whether payments may be simulated. */
  readonly simulation: boolean;
  readonly hasPanel: boolean;
  /** Whether payments on US accounts of live merchants are collected. */
  readonly hasProcessor: boolean;
  /** Whether a failover of the database may lose what was confirmed without anybody noticing. */
  readonly mayLoseUnnoticed?: boolean;
}

/** Something that has to be set up, in the order of the guide. */
export interface Step {
  readonly name:
    | 'account'
    | 'node'
    | 'address'
    | 'worker'
    | 'processor'
    | 'domain'
    | 'key'
    | 'webhook'
    | 'person'
    | 'database';
  /** `missing`: no payment can settle without it. `advised`: payments settle, but something else fails. */
  readonly state: 'done' | 'missing' | 'advised';
  /** What is there, or what fails without it. */
  readonly finding: SetupFinding;
  /** What to do about it, usually a command with placeholders in capitals; null if the step is done. */
  readonly remedy: string | null;
}

/** A step without its name. */
export type Result = Omit<Step, 'name'>;

export const done = ([code, values]: SetupFindingArguments): Result => ({
  state: 'done',
  finding: { code, values },
  remedy: null,
});
export const missing = ([code, values]: SetupFindingArguments, remedy: string): Result => ({
  state: 'missing',
  finding: { code, values },
  remedy,
});
export const advised = ([code, values]: SetupFindingArguments, remedy: string): Result => ({
  state: 'advised',
  finding: { code, values },
  remedy,
});
