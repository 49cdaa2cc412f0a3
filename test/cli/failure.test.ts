import pg from 'pg';
import { expect, test } from 'vitest';
import { describeFailure } from '#cli/failure.ts';
import { UncertainCommit } from '#storage/database/transaction.ts';

test.each([
  [
    'a commit that was cut',
    new UncertainCommit(new Error('Connection terminated unexpectedly')),
    'The connection failed at the end: look first whether it was done. Connection terminated unexpectedly.',
  ],
  [
    'a deadlock',
    Object.assign(new pg.DatabaseError('deadlock detected', 0, 'error'), { code: '40P01' }),
    'Nothing was changed, since somebody changed the same at that moment: run the command again.',
  ],
  [
    'a server that is not there',
    Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' }),
    'The database cannot be reached: connect ECONNREFUSED 127.0.0.1:1. Check DATABASE_URL and the server.',
  ],
])('%s is reported', (_, error, told) => {
  expect(describeFailure(error)).toBe(told);
});
