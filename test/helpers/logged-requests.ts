import { v7 as uuidv7 } from 'uuid';
import { type LoggedRequest, writeRequests } from '#storage/repositories/keys/request-log.ts';
import type { TestApp } from './app.ts';

/** A request as a test specifies it; defaults are those of a list that was refused. */
type Logged = Partial<LoggedRequest> & Pick<LoggedRequest, 'keyId'>;

/**
 * Inserts a request into the request log.
 * @returns Its ID, greater than earlier ones.
 */
export async function addRequest(
  { db, clock }: Pick<TestApp, 'db' | 'clock'>,
  request: Logged,
): Promise<string> {
  const row = {
    id: uuidv7(),
    at: new Date(clock()),
    verified: true,
    requests: 1,
    method: 'GET',
    target: '/external/v1/payments?limit=0',
    status: 400,
    errorCode: 'E1001',
    param: 'limit',
    milliseconds: 3,
    address: '192.0.2.1',
    replayed: false,
    paymentId: null,
    explanation: null,
    ...request,
  };
  await writeRequests(db, [row]);
  return row.id;
}
