import fc from 'fast-check';
import pg from 'pg';
import { expect, test } from 'vitest';
import { readConfig } from '#config/config.ts';
import { problemsOf } from '../helpers/config-problems.ts';

const BARE = /^DATABASE_URL has a password that is not percent-encoded; write % as %25, @ as %40/;

test.each([
  'postgres://eps:pa@hunter2/word@db/eps',
  'postgres://eps:pa/hunter2@db/eps',
  'postgres://eps:12/hunter2@db/eps',
  'postgres://eps:1?hunter2@db/eps',
  'postgres://eps:hunter2#x@db/eps',
  'postgres://eps:hunter2%@db/eps',
  'postgres://eps:%ffhunter2@db/eps',
])('a password that is not percent-encoded is reported, and no part of it is shown: %s', url => {
  const problems = problemsOf({ DATABASE_URL: url });
  expect(problems).toEqual([expect.stringMatching(BARE)]);
  expect(problems[0]).not.toContain('hunter2');
});

const CHARACTERS = fc.constantFrom(...'ab1:@/?#%&=,+[]\\ ;"<');
const written = fc.string({ unit: CHARACTERS, maxLength: 12 });

test('no part of a password is ever taken for the host', () => {
  const run = (password: string) => {
    const url = `postgres://eps:${password}@db.example.com/eps`;
    if (problemsOf({ DATABASE_URL: url }).length > 0) return;
    expect(new pg.Client(url).host).toBe('db.example.com');
  };
  fc.assert(fc.property(written, run));
});

test('any percent-encoded password is accepted', () => {
  const run = (password: string) => {
    const url = `postgres://eps:${encodeURIComponent(password)}@db.example.com/eps`;
    expect(problemsOf({ DATABASE_URL: url })).toEqual([]);
    expect(new pg.Client(url).password ?? '').toBe(password);
  };
  fc.assert(fc.property(written, run));
});

test.each([
  [
    'sslmode=hunter2',
    'has an unknown sslmode; it takes disable, allow, prefer, require, verify-ca',
  ],
  ['sslmode=verify-ca', 'has sslmode=verify-ca without sslrootcert'],
  ['sslmode=require&sslrootcert=system', 'has sslrootcert=system, which needs sslmode=verify-full'],
  ['sslmode=require&sslcert=/client.crt', 'has one of sslcert and sslkey'],
  ['sslmode=verify-full&sslcrl=/crl', 'has sslcrl, which is not supported'],
  ['sslrootcert=/none.crt', 'has sslrootcert="/none.crt", which cannot be read (ENOENT)'],
])('a part of %s that cannot be kept is reported', (parameters, told) => {
  const readFile = (path: string) => {
    if (path.startsWith('/none')) throw Object.assign(new Error(), { code: 'ENOENT' });
    return '';
  };
  for (const name of ['DATABASE_URL', 'DATABASE_REPORTS_URL']) {
    const read = () => readConfig({ [name]: `postgres://u:p@db/eps?${parameters}` }, readFile);
    expect(read).toThrow(`${name} ${told}`);
  }
});
