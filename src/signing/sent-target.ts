/** Where a URL's scheme and host end. */
const ORIGIN = /^https?:\/\/([^/?#]+)(?=\/)/i;

/** The target of a request: its path with its query, and the host where that is known. */
export interface SentTarget {
  readonly path: string;
  readonly host?: string;
}

/** What all signed paths begin with. */
const SIGNED = '/external/';

/**
 * The prefix under which a proxy serves the service, without a slash at its end; empty without one.
 * @param publicUrl Address at which clients reach the service.
 */
export function prefixOf(publicUrl: string | undefined): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
}

/** A path as the service receives it: without the prefix, which a proxy removes. */
export function withoutPrefix(path: string, publicUrl: string | undefined): string {
  const prefix = prefixOf(publicUrl);
  return path.startsWith(prefix + SIGNED) ? path.slice(prefix.length) : path;
}

/**
 * Reads a path with its query, or a URL, as it is written: a URL object would normalize it, and hide a mistake.
 * @returns undefined for text that is neither.
 */
export function parseSentTarget(text: string): SentTarget | undefined {
  const [origin = '', host] = ORIGIN.exec(text) ?? [];
  const path = text.slice(origin.length);
  if (!path.startsWith('/') || /[\r\n]/.test(path)) return undefined;
  return host === undefined ? { path } : { path, host };
}
