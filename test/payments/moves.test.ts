import { expect, test } from 'vitest';
import { MOVES } from '#payments/moves.ts';
import { ALLOWED_MOVES } from '../helpers/payment-states.ts';

test('the code moves payments everywhere the database lets it, and nowhere else', () => {
  const moves = Object.values(MOVES).flatMap(({ from, to }) =>
    from.map(({ status, session }) => `${status}/${session} to ${to.status}/${to.session}`),
  );
  const allowed = Object.entries(ALLOWED_MOVES).flatMap(([from, targets]) =>
    targets.map(to => `${from} to ${to}`),
  );
  expect(moves.toSorted()).toEqual(allowed.toSorted());
});
