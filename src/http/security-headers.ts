/** Headers of every response, also of those to requests that Node's HTTP parser could not read. */
export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

/** A Content Security Policy, as a header. */
export type PagePolicy = { readonly 'content-security-policy': string };

/** Headers of every HTML page: it is shown in no frame, and loads and sends only what is allowed here. */
export function pageHeaders(...allowed: readonly string[]): PagePolicy {
  return policyOf(...allowed, "frame-ancestors 'none'");
}

/** Headers of a page that is shown in a frame of our own pages. It runs no script and sends no form. */
export function framedPageHeaders(...allowed: readonly string[]): PagePolicy {
  // Its style sheets are of the same origin only if it keeps its own.
  const still = ["form-action 'none'", 'sandbox allow-same-origin'];
  return policyOf(...allowed, ...still, "frame-ancestors 'self'");
}

function policyOf(...directives: readonly string[]): PagePolicy {
  const policy = ["default-src 'none'", ...directives, "base-uri 'none'"];
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
