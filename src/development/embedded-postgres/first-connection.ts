import { Client } from 'pg';

// SQLSTATEs, PostgreSQL's Appendix A.
const DUPLICATE_DATABASE = '42P04';
const UNIQUE_VIOLATION = '23505';
const WRONG_PASSWORD = '28P01';
// Nothing listens, or the server is stopping (the three SQLSTATEs).
const GONE = ['ECONNREFUSED', 'ECONNRESET', '57P01', '57P02', '57P03'];
// What pg says, without a code, when the connection ends under it.
const CUT_OFF = 'Connection terminated unexpectedly';

/**
 * Connects once, and makes the database if it is missing, as after the first start.
 *
 * @param url of the database; the connection goes to the database `postgres`, which always exists
 * @returns false when no server answers there any more.
 * @throws Error when the server does not accept the password.
 */
export async function ensureDatabase(url: string): Promise<boolean> {
  const address = new URL(url);
  const name = address.pathname.slice(1);
  address.pathname = '/postgres';
  // Without ssl: PGSSLMODE is meant for another server.
  const client = new Client({
    connectionString: address.href,
    ssl: false,
    connectionTimeoutMillis: 10_000,
  });
  // The server may end the connection at any moment; then the query fails too.
  client.on('error', () => {});
  try {
    await client.connect();
    const found = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 0) await client.query(`create database "${name}"`);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    // A process that has just attached makes it too.
    if (code === DUPLICATE_DATABASE || code === UNIQUE_VIOLATION) return true;
    if (GONE.includes(code) || (error instanceof Error && error.message === CUT_OFF)) return false;
    throw code === WRONG_PASSWORD ? explainPassword(error) : error;
  } finally {
    await client.end().catch(() => {});
  }
}

function explainPassword(cause: unknown): Error {
  return new Error(
    'The embedded database does not accept the password in "postgres-password" beside it. Put the ' +
      'file back, or remove it together with the directory "postgres" to begin anew.',
    { cause },
  );
}
