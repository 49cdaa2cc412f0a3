import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import type { Connection, Database } from './connection.ts';
import { encryptionOf } from './encryption.ts';
import { isAccessDenied } from './errors.ts';
import { primaryOf } from './primary.ts';

/**
 * The role that API, worker and `mp` connect as, where it is not the owner of the tables. It may read
 * and write rows only, so that stolen credentials suffice neither for switching off the triggers that guard
 * payments nor for rewriting history.
 */
export interface ServiceRole {
  readonly name: string;
  /** null where the server asks for none. */
  readonly password: string | null;
}

/** The roles are not set up as the service needs them. The message says what to do. */
export class ServiceRoleError extends Error {
  override readonly name = 'ServiceRoleError';
}

/** The lock of Kysely's migrator (`PostgresAdapter`): nothing is granted while tables change. */
const MIGRATION_LOCK = 3853314791062309107n;

/**
 * The privileges that the service needs on tables and sequences. Partitions need none of their own, and of the
 * migrations' own tables it only reads. Where `refuse_change` refuses every update, or every deletion, it does not
 * need that privilege.
 */
const NEEDED = sql`
  select c.oid, case c.relkind when 'S' then 'sequence' else 'table' end as kind, privilege
  from pg_class c, unnest(
    case c.relkind when 'S' then array['USAGE']
                   else array['SELECT', 'INSERT', 'UPDATE', 'DELETE'] end) as privilege
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'S')
    and not c.relispartition
    and (privilege = 'SELECT' or c.relname not like 'kysely\\_migration%')
    and not exists (
      select from pg_trigger t
      where t.tgrelid = c.oid and t.tgfoid = to_regproc('refuse_change')
        and t.tgqual is null and cardinality(t.tgattr::smallint[]) = 0
        -- Bits of DELETE and UPDATE, from PostgreSQL's src/include/catalog/pg_trigger.h.
        and t.tgtype & case privilege when 'DELETE' then 8 when 'UPDATE' then 16 else 0 end <> 0)`;

/** The role that a URL connects as, with the driver's defaults. */
export function roleOf(url: string): ServiceRole {
  const { user = '', password } = new pg.Client({
    connectionString: encryptionOf(primaryOf(url).url).url,
  });
  return { name: user, password: password || null };
}

/**
 * Gives the service's role exactly the privileges that it needs, on tables to come as well; several
 * processes may call it at once. Does nothing where that role is the owner itself.
 * @param db A connection of the owner.
 * @returns Whether the role was missing and has been created.
 * @throws ServiceRoleError when it is missing and the owner may not create roles.
 */
export async function admitService(db: Database, role: ServiceRole): Promise<boolean> {
  return db.transaction().execute(async tx => {
    await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(tx);
    const { rows } = await sql<{ owner: string; exists: boolean }>`
      select current_user as owner,
             exists (select from pg_roles where rolname = ${role.name}) as exists`.execute(tx);
    const [{ owner, exists } = { owner: '', exists: false }] = rows;
    if (owner === role.name) return false;
    const created = !exists && (await createRole(tx, owner, role));
    for (const { statement } of await missingGrants(tx, role.name)) {
      await sql.raw(statement).execute(tx);
    }
    return created;
  });
}

/** SQLSTATEs of a role that another session has created meanwhile: duplicate_object, unique_violation. */
const ALREADY_THERE = ['42710', '23505'];

/** @returns Whether this call has created it; a call for another database of the same server may have been quicker. */
async function createRole(
  db: Connection,
  owner: string,
  { name, password }: ServiceRole,
): Promise<boolean> {
  const login =
    password === null ? sql`login` : sql`login password ${sql.lit(scramVerifier(password))}`;
  try {
    await sql`savepoint before_role`.execute(db);
    await sql`create role ${sql.id(name)} ${login}`.execute(db);
    return true;
  } catch (error) {
    await sql`rollback to before_role`.execute(db);
    if (error instanceof pg.DatabaseError && ALREADY_THERE.includes(error.code ?? '')) return false;
    if (!isAccessDenied(error)) throw error;
    throw new ServiceRoleError(
      `The role ${name} of DATABASE_URL does not exist, and ${owner} may not create it. Run as an ` +
        `administrator: create role ${name} login password '…';`,
    );
  }
}

/** Statements that grant what is missing and revoke what is not needed. */
async function missingGrants(db: Connection, name: string) {
  const { rows } = await sql<{ statement: string }>`
    with service as (
      select oid as grantee from pg_roles where rolname = ${name}
    ), needed as (
      select oid, kind, privilege from (${NEEDED}) as relations
      union all
      select current_schema()::regnamespace::oid, 'schema', 'USAGE'
    ), held as (
      select c.oid, case c.relkind when 'S' then 'sequence' else 'table' end as kind,
             privilege_type as privilege
      from pg_class c, aclexplode(c.relacl) join service using (grantee)
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'S')
      union all
      select n.oid, 'schema', privilege_type
      from pg_namespace n, aclexplode(n.nspacl) join service using (grantee)
      where n.oid = current_schema()::regnamespace
    )
    select format('%s %s on %s %s %s %I',
      case when held is null then 'grant' else 'revoke' end, string_agg(privilege, ', '), kind,
      case kind when 'schema' then oid::regnamespace::text else oid::regclass::text end,
      case when held is null then 'to' else 'from' end, ${name}::text) as statement
    from needed full join held using (oid, kind, privilege)
    where needed is null or held is null
    group by oid, kind, held is null
    union all
    -- Triggers of a release that still runs may write to a new table before anything is granted here.
    select format('alter default privileges in schema %I grant %s to %I',
                  current_schema(), kind, ${name}::text)
    from (values ('r', 'select, insert, update, delete on tables'),
                 ('S', 'usage on sequences')) as kinds (objtype, kind)
    where not exists (
      select from pg_default_acl d, aclexplode(d.defaclacl) join service using (grantee)
      where d.defaclrole = (select oid from pg_roles where rolname = current_user)
        and d.defaclnamespace = current_schema()::regnamespace
        and d.defaclobjtype = objtype::"char")`.execute(db);
  return rows;
}

/** The role of a session, and what it may do beyond what the service needs; usually nothing. */
export interface RoleRights {
  readonly role: string;
  readonly excess: readonly string[];
}

/** Reads what the session's role may do, by itself or as another role that it can become. */
export async function readRights(db: Connection): Promise<RoleRights> {
  const { rows } = await sql<RoleRights>`
    with become as (
      select * from pg_roles where pg_has_role(current_user, oid, 'member')
    ), tables as (
      select oid, relowner from pg_class
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
    ), found (position, excess, there) as (values
      (1, 'is a superuser', exists (select from become where rolsuper)),
      (2, 'may create roles', exists (select from become where rolcreaterole)),
      (3, 'may replicate the server', exists (select from become where rolreplication)),
      (4, 'owns tables', exists (
        select from tables join become on become.oid = relowner)),
      (5, 'may create in the schema', has_schema_privilege(current_schema(), 'CREATE')),
      (6, 'has more privileges on tables than are granted by "mp migrate"', exists (
        select from tables, unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE',
                                         'REFERENCES', 'TRIGGER']) as privilege
        where has_table_privilege(tables.oid, privilege)
          and (tables.oid, privilege) not in (select oid, privilege from (${NEEDED}) as needed)))
    )
    select current_user as role,
           coalesce(array_agg(excess order by position) filter (where there), '{}') as excess
    from found`.execute(db);
  return rows[0] ?? { role: '', excess: [] };
}

/**
 * What PostgreSQL stores of a password (RFC 5803), so that the password itself appears in no statement, and
 * thus in no log of the server.
 */
function scramVerifier(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64');
  const server = hmac('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${server}`;
}
