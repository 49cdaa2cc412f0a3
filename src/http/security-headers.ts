/** Headers of every response, also of those to requests that Node's HTTP parser could not read. */
export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

/** Headers of every HTML page: it is shown in no frame, and loads and sends only what is allowed here. */
export function pageHeaders(...allowed: readonly string[]): Record<string, string> {
  const policy = ["default-src 'none'", ...allowed, "frame-ancestors 'none'", "base-uri 'none'"];
  return { 'content-security-policy': policy.join('; ') };
}

/**
 * Headers of a customer's page. Its address is enough to open it, so it must not be sent to other sites as a
 * referrer, nor enter a search engine.
 */
export const PRIVATE_PAGE_HEADERS = {
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
} as const;
