const PARTS = /^(?<start>postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?<hosts>[^/?#]*)(?<end>.*)$/;
/** libpq's values for a server that accepts writes. */
const ATTRIBUTES = ['read-write', 'primary'];

/**
 * Splits a PostgreSQL URL into one URL per server. Like libpq, it accepts several hosts separated by commas, and
 * `target_session_attrs`, which may only ask for the server that accepts writes: that one is used in any case.
 * @returns undefined for any other text.
 */
export function serverUrls(text: string): string[] | undefined {
  const { start = '', hosts = '', end = '' } = PARTS.exec(text)?.groups ?? {};
  const urls = hosts.split(',').map(host => start + host + end);
  if (start === '' || !urls.every(url => URL.canParse(url))) return undefined;
  const wanted = new URL(urls[0] ?? '').searchParams.get('target_session_attrs');
  if (wanted !== null && !ATTRIBUTES.includes(wanted)) return undefined;
  const isEmpty = urls.some(url => new URL(url).hostname === '');
  return urls.length > 1 && isEmpty ? undefined : urls;
}
