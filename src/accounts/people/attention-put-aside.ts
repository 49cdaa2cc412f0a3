import type { Connection } from '#storage/database/connection.ts';
import {
  deletePutAside,
  insertPutAside,
} from '#storage/repositories/people/attention-put-aside.ts';

/** Most items that a person may have put aside: more than anybody looks at in the time that they are kept. */
const PUT_ASIDE_MAXIMUM = 500;

/** How long an item stays aside that does not become news before, in milliseconds. */
export const PUT_ASIDE_KEPT_MS = 90 * 24 * 60 * 60_000;

/** Something that needs attention in an account, and the person who has seen it. */
interface SeenItem {
  readonly personId: string;
  readonly accountId: string;
  /** Kind and object, and what makes it news; at most 200 characters. */
  readonly item: string;
}

/**
 * No longer shows something to a person until it is news, or a time has passed. It concerns nobody else, and is not
 * audited.
 */
export function putAside(
  db: Connection,
  { personId, accountId, item }: SeenItem,
  now: Date,
): Promise<void> {
  const row = { person_id: personId, account_id: accountId, item, at: now };
  return insertPutAside(db, row, PUT_ASIDE_MAXIMUM);
}

/** Shows something again that a person had put aside. */
export async function showAgain(
  db: Connection,
  { personId, accountId, item }: SeenItem,
): Promise<void> {
  await deletePutAside(db, { person_id: personId, account_id: accountId, item });
}
