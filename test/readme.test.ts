import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DRAIN_MS } from '#http/graceful-close.ts';
import { BLOCKCHAIN_IDS } from '#schemas/blockchain.ts';
import { GUIDE_GROUPS } from '#surfaces/docs/guides/index.ts';

const ROOT = new URL('../', import.meta.url);
const README = readFileSync(new URL('README.md', ROOT), 'utf8');

test('it links to every guide, on the site and in the repository', () => {
  for (const slug of GUIDE_GROUPS.flatMap(({ slugs }) => slugs)) {
    expect(README).toContain(`| \`/docs/${slug}\` |`);
    expect(README).toContain(`](src/surfaces/docs/guides/${slug}.md) |`);
  }
});

test('every file that it links to exists', () => {
  const targets = [...README.matchAll(/(?:\]\(|src=")([^)":#]+)/g)].map(([, path = '']) => path);
  expect(targets.length).toBeGreaterThan(20);
  for (const target of targets) expect(existsSync(new URL(target, ROOT)), target).toBe(true);
});

test('its variables are those of the complete table', () => {
  const whole = readFileSync(
    new URL('src/surfaces/docs/guides/operating/configuration.md', ROOT),
    'utf8',
  );
  const [, table = ''] = README.split('| variable | meaning | default |');
  const names = [...(table.split('\n\n')[0] ?? '').matchAll(/`([A-Z_]{4,})`/g)].map(
    ([, name]) => name,
  );
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) expect(whole).toContain(`\`${name}\``);
});

test('the time within which a balancer must turn away is right', () => {
  expect(README).toContain(`serves on for ${DRAIN_MS / 1000} seconds`);
});

test('the number of networks and the licence are right', () => {
  expect(README).toContain(`one of ${BLOCKCHAIN_IDS.length} crypto networks`);
  const { license } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));
  expect(README).toContain(`\`${license}\` in package.json`);
});
