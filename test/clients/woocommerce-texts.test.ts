import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readFiles } from '#surfaces/docs/downloads/libraries.ts';

const LANGUAGES = resolve(import.meta.dirname, '../../clients/woocommerce/languages');

/** A text of the plugin, where it is, and what translators have to know of it. */
interface Text {
  readonly text: string;
  readonly file: string;
  readonly comment: string | undefined;
}

/** What is translated: what is said in the sources, and the header that WordPress shows. */
function listTexts(): Text[] {
  const sources = readFiles('woocommerce', ['*.php', 'includes/*.php'], '').map(
    ({ path, bytes }) => ({ file: path.slice(1), code: bytes.toString() }),
  );
  const header = /^ \* (?:Plugin Name|Description): +(.+)$/gm;
  // A comment is that of the next text.
  const said =
    /(?:\/\* translators: (.*?) \*\/(?:(?!__\()[\s\S])*?)?__\( '((?:[^'\\]|\\.)*)', 'external-payments' \)/g;
  return sources.flatMap(({ file, code }) => [
    ...[...code.matchAll(header)].map(([, text = '']) => ({ text, file, comment: undefined })),
    ...[...code.matchAll(said)].map(([, comment, text = '']) => ({
      text: text.replaceAll(/\\(.)/g, '$1'),
      file,
      comment,
    })),
  ]);
}

const texts = listTexts();

test('every text is found that the sources mark, in the domain of the plugin', () => {
  const code = readFiles('woocommerce', ['includes/*.php', '*.php'], '').map(({ bytes }) => bytes);
  const marked = code.join('').match(/\b(?:esc_html|esc_attr)?_[_nxe]+\(/g) ?? [];
  expect(texts.filter(({ file }) => file.startsWith('includes/'))).toHaveLength(marked.length);
});

test('the template for translators has each text once; `vitest -u` writes it anew', async () => {
  const quote = (text: string) => JSON.stringify(text);
  const entries = Map.groupBy(texts, ({ text }) => text);
  const blocks = [...entries].map(([text, found]) => {
    const comments = [...new Set(found.flatMap(({ comment }) => comment ?? []))];
    const files = [...new Set(found.map(({ file }) => file))];
    return [
      ...comments.map(comment => `#. translators: ${comment}`),
      ...files.map(file => `#: ${file}`),
      ...(/%(\d\$)?[sd]/.test(text) ? ['#, php-format'] : []),
      `msgid ${quote(text)}`,
      'msgstr ""',
    ].join('\n');
  });
  const header = [
    'msgid ""',
    'msgstr ""',
    '"Project-Id-Version: External Payments for WooCommerce\\n"',
    '"MIME-Version: 1.0\\n"',
    '"Content-Type: text/plain; charset=UTF-8\\n"',
    '"Content-Transfer-Encoding: 8bit\\n"',
    '"X-Domain: external-payments\\n"',
  ].join('\n');
  await expect(`${[header, ...blocks].join('\n\n')}\n`).toMatchFileSnapshot(
    `${LANGUAGES}/external-payments.pot`,
  );
});

test('Spanish has each of them, with the same values', () => {
  const file = readFileSync(`${LANGUAGES}/external-payments-es_ES.l10n.php`, 'utf8');
  const pairs = [...file.matchAll(/^\t\t'((?:[^'\\]|\\.)*)' => '((?:[^'\\]|\\.)*)',$/gm)].map(
    ([, from = '', to = '']) => [from, to].map(each => each.replaceAll(/\\(.)/g, '$1')),
  );
  expect(pairs.map(([from]) => from).sort()).toEqual(
    [...new Set(texts.map(({ text }) => text))].sort(),
  );
  const valuesOf = (text = '') => (text.match(/%(\d\$)?[sd]/g) ?? []).sort();
  for (const [from, to] of pairs) {
    expect(to).not.toBe('');
    expect([to, valuesOf(to)]).toEqual([to, valuesOf(from)]);
  }
});
