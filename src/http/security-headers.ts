/** A Content Security Policy, as a header. */
export type PagePolicy = { readonly 'content-security-policy': string };

/** Seconds of a year. */
const YEAR = 31_536_000;

/**
 * Headers of every response, including those to requests that Node's HTTP parser could not read. The policy suits
 * JSON and files, which load nothing and are shown in no frame; pages override it.
 */
export function securityHeaders(publicUrl: string): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    ...transportHeaders(publicUrl),
  };
}

/**
 * Makes browsers use https alone for a host and its subdomains, for a year (RFC 6797).
 * @param baseUrl With http, as in development, the header is left out.
 */
export function transportHeaders(baseUrl: string): Readonly<Record<string, string>> {
  if (!baseUrl.startsWith('https:')) return {};
  return { 'strict-transport-security': `max-age=${YEAR}; includeSubDomains` };
}

/** Headers of every HTML page: it is shown in no frame, and loads and sends only what `allowed` says. */
export function pageHeaders(...allowed: readonly string[]): PagePolicy {
  return policyOf(...allowed, "frame-ancestors 'none'");
}

/** Headers of a page that is shown in a frame of our own pages. It runs no script and sends no form. */
export function framedPageHeaders(...allowed: readonly string[]): PagePolicy {
  // Without its own origin, the page could not load style sheets that are allowed for `'self'`.
  const still = ["form-action 'none'", 'sandbox allow-same-origin'];
  return policyOf(...allowed, ...still, "frame-ancestors 'self'");
}

function policyOf(...directives: readonly string[]): PagePolicy {
  const policy = ["default-src 'none'", ...directives, "base-uri 'none'"];
  return { 'content-security-policy': policy.join('; ') };
}

/**
 * Headers of a customer's page. Its URL is enough to open it, so the URL must not reach other sites as a referrer,
 * nor a search engine.
 */
export const PRIVATE_PAGE_HEADERS = {
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
} as const;
