import { confirmRestore, declareRestore } from '#onchain/watching/operate/restores.ts';
import type { Lineage } from '#storage/database/lineage-tables.ts';
import { readLineages } from '#storage/repositories/restores.ts';
import type { CliCommand } from './cli-command.ts';
import { parseDate } from './values.ts';

const CONFIRM = 'Writes are refused until you run mp restore confirm.';

/** `mp restore show | declare | confirm` */
export function define(noun: CliCommand): void {
  noun
    .verb('show', 'what is known of the last restore of the database')
    .whileRestored()
    .onDatabase(async ({ db, show }) => {
      const { current, unconfirmed } = await readLineages(db);
      const last = unconfirmed ?? current;
      if (last === undefined || last.restored_to === null) {
        return show({ id: null, state: 'none' }, 'No restore of this database is known.');
      }
      show(restoreObject(last), unconfirmed && CONFIRM);
    });

  noun
    .verb('declare', 'say that the database was restored, so that writes are refused')
    .requiredOption('--to <time>', 'time to which it was restored', parseDate)
    .whileRestored()
    .onDatabase(async (session, { to }: { to: Date }) => {
      session.show(restoreObject(await declareRestore(session, to)), CONFIRM);
    });

  noun
    .verb('confirm', 'go on from the restored database: rescans chains, withholds owed webhooks')
    .whileRestored()
    .onDatabase(async session => {
      const { lineage, rescans, withheld } = await confirmRestore(session);
      const ranges = rescans.map(({ blockchain_id, from_height, to_height }) => ({
        network: blockchain_id,
        from: from_height,
        to: to_height,
      }));
      session.show(
        { ...restoreObject(lineage), webhooksWithheld: withheld, rescans: ranges },
        'Writes are taken again within seconds. See mp network status for the rescans, which end at the newest block.',
      );
    });
}

function restoreObject({ id, noticed_at, noticed_by, restored_to, lost_until, begun_at }: Lineage) {
  return {
    id,
    state: begun_at === null ? 'unconfirmed' : 'confirmed',
    restoredTo: restored_to,
    lostUntil: lost_until,
    noticedAt: noticed_at,
    noticedBy: noticed_by,
    confirmedAt: begun_at,
  };
}
