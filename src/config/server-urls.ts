const PARTS = /^(?<start>postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?<hosts>[^/?#]*)(?<end>.*)$/;
/** What libpq calls a server that takes writes. */
const ATTRIBUTES = ['read-write', 'primary'];

/**
 * The servers of a PostgreSQL URL, each as a URL of its own. Like libpq, it takes several hosts with commas between
 * them, and `target_session_attrs`, which may only ask for the one that takes writes: that is the one used in any case.
 * @returns undefined for what is no such URL.
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
