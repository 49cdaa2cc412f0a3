/** Place of a transaction's hash in the URL of a block explorer. */
const HASH = '{hash}';
/** Longest URL of a block explorer, in characters. */
const LENGTH_MAXIMUM = 500;
/** Characters that browsers would escape or drop. */
const UNUSUAL = /[^!-~]|[<>"'`{}\\^|]/;

/**
 * Reads the URL of a block explorer's page of a transaction, for example `https://explorer.example/tx/{hash}`.
 * @returns undefined for a URL that is not https, or does not have exactly one `{hash}` after its host.
 */
export function parseExplorer(text: string): string | undefined {
  const [before = '', after, ...more] = text.split(HASH);
  if (after === undefined || more.length > 0 || text.length > LENGTH_MAXIMUM) return undefined;
  if (UNUSUAL.test(before + after)) return undefined;
  const base = URL.parse(before);
  if (base?.protocol !== 'https:' || base.username !== '' || base.password !== '') return undefined;
  // Right after the host, the hash would become part of the host.
  return /^https:\/\/[^/?#]+[/?#]/i.test(before) ? text : undefined;
}

/**
 * The page of a transaction.
 * @param explorer As `parseExplorer` gives it.
 */
export function explorerPage(explorer: string, transactionHash: string): string {
  return explorer.replace(HASH, () => encodeURIComponent(transactionHash));
}
