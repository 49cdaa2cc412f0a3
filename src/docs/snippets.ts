import { readFileSync } from 'node:fs';

/**
 * Complete programs that create a payment and read it back, each with nothing but what its language
 * brings. The tests run them as they stand on the page.
 */
export const SNIPPETS = [
  { name: 'Shell', tool: 'curl and OpenSSL', language: 'sh', file: 'payment.sh' },
  { name: 'Node.js', tool: 'Node.js 18 or newer', language: 'js', file: 'payment.mjs' },
  { name: 'Python', tool: 'Python 3.8 or newer', language: 'python', file: 'payment.py' },
  { name: 'PHP', tool: 'PHP 8.0 or newer', language: 'php', file: 'payment.php' },
] as const;

type Snippet = (typeof SNIPPETS)[number];

/** The program's text, without a line feed at its end. */
export function readSnippet({ file }: Snippet): string {
  return readFileSync(new URL(`./snippets/${file}`, import.meta.url), 'utf8').trimEnd();
}
