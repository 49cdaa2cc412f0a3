import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

/** An empty database whose owner is not the service's role, as in a deployment. */
export interface TwoRoles {
  /** For migrations. */
  readonly ownerUrl: string;
  readonly owner: string;
  /** For the service. The role does not exist before the first migration. */
  readonly serviceUrl: string;
  readonly service: string;
  drop(): Promise<void>;
}

/** Creates the database on the tests' server. Its owner may create roles, but is no superuser. */
export async function createTwoRoles(): Promise<TwoRoles> {
  const owner = `eps_owner_${randomBytes(4).toString('hex')}`;
  const service = owner.replace('owner', 'service');
  const server = new pg.Client({ connectionString: inject('databaseServer') });
  await server.connect();
  await server.query(`create role ${owner} login createrole password 'owner'`);
  await server.query(`create database ${owner} owner ${owner}`);
  const urlOf = (username: string, password: string) =>
    Object.assign(new URL(inject('databaseServer')), { pathname: owner, username, password }).href;
  return {
    owner,
    service,
    ownerUrl: urlOf(owner, 'owner'),
    serviceUrl: urlOf(service, 'of the service'),
    async drop() {
      await server.query(`drop database if exists ${owner} with (force)`);
      await server.query(`drop role if exists ${service}`);
      await server.query(`drop role ${owner}`);
      await server.end();
    },
  };
}
