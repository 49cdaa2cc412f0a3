import type { Generated, Selectable } from 'kysely';
import type { Defaulted } from './column-types.ts';

/** A point where the database's history begins anew: its first start, or a restore. */
interface LineagesTable {
  id: string;
  /** Order of the rows, which does not depend on clocks. */
  number: Generated<number>;
  noticed_at: Date;
  /** `service`, or the operator who declared it. */
  noticed_by: string;
  /** Time to which the database was restored; null for its first start. */
  restored_to: Defaulted<Date | null>;
  /** Time of the newest data that is known to be lost; null if none is known. */
  lost_until: Defaulted<Date | null>;
  /** null until an operator has confirmed the restore; nothing is written until then. */
  begun_at: Defaulted<Date | null>;
}

export interface LineageTables {
  lineages: LineagesTable;
}

export type Lineage = Selectable<LineagesTable>;
