import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '#errors/api-error.ts';
import { checkRedirectUrl } from '#payments/redirect-url.ts';

const ALLOWED = ['shop.example.com', 'xn--bcher-kva.example'];

/** The refusal's code; undefined when the URL passes. */
function codeOf(url: string, allowed: readonly string[] = ALLOWED, loopback = false) {
  try {
    checkRedirectUrl(url, allowed, loopback);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.param === 'redirectUrl') return error.errorCode;
    throw error;
  }
}

/** Parts that URL parsers disagree about, combined at random. */
const parts = fc.constantFrom(
  ...['https:', 'HTTPS:', 'http:', 'javascript:', 'ftp:', 'https', ':', '/', '//', '///', '\\'],
  ...['shop.example.com', 'SHOP.example.com', 'bücher.example', 'evil.example', 'localhost'],
  ...['@', 'user', ':80', ':', '?', '#', '.', '..', '%2e', '%00', '%40', ' ', '\t', '\n', '\0'],
  ...['\u00ad', '。', '．', '／', '[::1]', '127.1', 'a', '-', '_', '\ud83d', '💸'],
);
const tangles = fc.array(parts, { maxLength: 10 }).map(texts => texts.join(''));
const nearlyUrls = fc
  .tuple(
    fc.constantFrom('https:', 'HTTPS:', 'https', 'http:'),
    fc.constantFrom('//', '', '/', '///', '\\\\', '/\\'),
    fc.constantFrom('', '', '@', 'user@', 'shop.example.com@', 'shop.example.com\\@'),
    fc.constantFrom('shop.example.com', 'SHOP.example.com', 'bücher.example', 'evil.example'),
    tangles,
  )
  .map(texts => texts.join(''));
const urls = fc.oneof(nearlyUrls, tangles, fc.webUrl());

describe('every URL that passes', () => {
  test('leads to an allowed host over https, wherever it is used as a link', () => {
    const pages = ['https://pay.example.test/checkout/token', 'http://127.0.0.1:3000/checkout/t'];
    fc.assert(
      fc.property(urls, url => {
        if (codeOf(url) !== undefined) return;
        for (const page of pages) {
          const { protocol, hostname, username, password } = new URL(url, page);
          expect({ protocol, username, password }).toEqual({
            protocol: 'https:',
            username: '',
            password: '',
          });
          expect(ALLOWED).toContain(hostname);
        }
        // It can be sent in a header, and shown in one line.
        expect(url).not.toMatch(/[\s\p{Cc}]/u);
      }),
      { numRuns: 2_000 },
    );
  });

  test('passes with any path, query and fragment', () => {
    const webUrls = fc.webUrl({ withQueryParameters: true, withFragments: true });
    fc.assert(
      fc.property(webUrls, url => {
        const { pathname, search, hash } = new URL(url);
        expect(codeOf(`https://shop.example.com${pathname}${search}${hash}`)).toBeUndefined();
      }),
    );
  });
});

describe('a hostname', () => {
  test('passes only when it is exactly an allowed one', () => {
    fc.assert(
      fc.property(fc.domain(), fc.domain(), (host, other) => {
        expect(codeOf(`https://${host}/`, [other, host])).toBeUndefined();
        for (const near of [`a.${host}`, `${host}.evil.example`, `a${host}`, `${host}.`]) {
          expect(codeOf(`https://${near}/`, [host])).toBe('E1012');
        }
        expect(codeOf(`https://${host}/`, [`www.${host}`])).toBe('E1012');
      }),
    );
  });

  test('is compared in its ASCII form', () => {
    for (const host of ['bücher.example', 'BÜCHER.example', 'xn--bcher-kva.example']) {
      expect(codeOf(`https://${host}/`)).toBeUndefined();
    }
  });
});

test('user information is refused, empty or not, before the hostname is looked at', () => {
  const characters = fc.constantFrom('a', '1', '-', '.', '%40', ':', '@');
  const users = fc.array(characters).map(texts => texts.join(''));
  fc.assert(
    fc.property(users, fc.constantFrom('shop.example.com', 'evil.example'), (user, host) => {
      expect(codeOf(`https://${user}@${host}/`)).toBe('E1011');
    }),
  );
});

test('nothing passes without domains', () => {
  fc.assert(fc.property(urls, url => void expect(codeOf(url, [])).toBe('E1010')));
});

test('plain HTTP passes only for allowed loopback hosts, where that is enabled', () => {
  const hosts = ['localhost', '127.0.0.1', '[::1]', 'shop.example.com', '127.0.0.2', '[::2]'];
  for (const host of hosts) {
    const loopback = hosts.indexOf(host) < 3;
    expect(codeOf(`http://${host}:3000/`, hosts, true)).toBe(loopback ? undefined : 'E1011');
    expect(codeOf(`http://${host}:3000/`, hosts, false)).toBe('E1011');
    expect(codeOf(`http://${host}/`, ['other.example'], true)).toBe(loopback ? 'E1012' : 'E1011');
  }
});
