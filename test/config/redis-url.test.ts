import { describe, expect, test } from 'vitest';
import { parseRedisUrl, REDIS_FORMS, type RedisServers } from '#config/redis-url.ts';
import { problemsOf } from '../helpers/config-problems.ts';

describe('a Redis URL leads to', () => {
  test.each<[string, RedisServers]>([
    ['redis://h', { mode: 'single', url: 'redis://h' }],
    ['rediss://u:p@h:6380/1', { mode: 'single', url: 'rediss://u:p@h:6380/1' }],
    // What ioredis itself supports stays unchanged.
    ['redis://:p,w@s@h?family=6', { mode: 'single', url: 'redis://:p,w@s@h?family=6' }],
    [
      'redis://a,b:7000,[::1]:7001?mode=cluster',
      {
        mode: 'cluster',
        tls: false,
        addresses: [
          { host: 'a', port: 6379 },
          { host: 'b', port: 7000 },
          { host: '::1', port: 7001 },
        ],
      },
    ],
    [
      'rediss://u:p%40%2C%2F@a/?mode=cluster',
      {
        mode: 'cluster',
        tls: true,
        username: 'u',
        password: 'p@,/',
        addresses: [{ host: 'a', port: 6379 }],
      },
    ],
    [
      'rediss://:p@s1,s2:26380/3?mode=sentinel&name=main&sentinel_username=su&sentinel_password=s%2Bp',
      {
        mode: 'sentinel',
        name: 'main',
        db: 3,
        tls: true,
        password: 'p',
        sentinelLogin: { tls: true, username: 'su', password: 's+p' },
        addresses: [
          { host: 's1', port: 26379 },
          { host: 's2', port: 26380 },
        ],
      },
    ],
  ])('%s', (text, servers) => {
    expect(parseRedisUrl(text)).toEqual(servers);
    expect(problemsOf({ REDIS_URL: text })).toEqual([]);
  });

  test('what each form of the reference says', () => {
    expect(REDIS_FORMS.map(([, url]) => parseRedisUrl(url).mode)).toEqual([
      'single',
      'sentinel',
      'cluster',
    ]);
  });
});

describe('a wrong one is explained in one sentence that quotes no part of it:', () => {
  test.each([
    ['hunter2', 'must be a redis:// or rediss:// URL'],
    ['http://:hunter2@cache', 'must be a redis:// or rediss:// URL'],
    ['redis://:hunter2@a:port', 'must be a redis:// or rediss:// URL'],
    ['redis://:hunter2%@a?mode=cluster', 'is not percent-encoded'],
    ['redis://:pa@hunter2/word@a', 'is not percent-encoded'],
    ['redis://:pa#hunter2@a', 'is not percent-encoded'],
    ['redis://:hunter2@a,?mode=cluster', 'must be a redis:// or rediss:// URL'],
    ['redis://:hunter2@s/x?mode=sentinel&name=m', 'must be a redis:// or rediss:// URL'],
    ['redis://:hunter2@a:6379,b:6379', 'several servers without a mode'],
    ['redis://a,b/0?name=hunter2', 'several servers without a mode'],
    ['redis://:hunter2@a?name=m', 'add mode=sentinel'],
    ['redis://a?sentinel_password=hunter2', 'add mode=sentinel'],
    ['redis://:hunter2@a?mode=hunter2', 'unknown mode'],
    ['redis://:hunter2@a?mode=', 'unknown mode'],
    ['redis://:hunter2@s?mode=sentinel', 'mode=sentinel without a name'],
    ['redis://:hunter2@s?mode=sentinel&name=', 'mode=sentinel without a name'],
    ['redis://:hunter2@a/1?mode=cluster', 'mode=cluster and a database'],
    ['redis://a?mode=cluster&name=hunter2', 'mode=cluster does not take'],
    ['redis://s?mode=sentinel&name=m&hunter2=1', 'mode=sentinel does not take'],
  ])('%s', (text, sentence) => {
    const problems = problemsOf({ REDIS_URL: text });
    expect(problems).toEqual([expect.stringMatching(/^REDIS_URL [^\n]+\.$/)]);
    expect(problems[0]).toContain(sentence);
    expect(problems[0]).not.toContain('hunter2');
  });
});
