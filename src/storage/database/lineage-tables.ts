import type { Generated, Selectable } from 'kysely';
import type { Defaulted } from './column-types.ts';

/** What the database goes back to: its first start, or a restore. */
export interface LineagesTable {
  id: string;
  /** Their order, which no clock decides. */
  number: Generated<number>;
  noticed_at: Date;
  /** `service`, or the operator who declared it. */
  noticed_by: string;
  /** Time to which the database was restored; null for its first start. */
  restored_to: Defaulted<Date | null>;
  /** Time of the newest that is known to be lost; null if none is known. */
  lost_until: Defaulted<Date | null>;
  /** null until an operator has confirmed the restore; nothing is written until then. */
  begun_at: Defaulted<Date | null>;
}

export interface LineageTables {
  lineages: LineagesTable;
}

export type Lineage = Selectable<LineagesTable>;
