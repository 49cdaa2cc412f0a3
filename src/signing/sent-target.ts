/** Where a URL's scheme and host end. */
const ORIGIN = /^https?:\/\/([^/?#]+)(?=\/)/i;

/** The target of a request: its path with its query, and the host where that is known. */
export interface SentTarget {
  readonly path: string;
  readonly host?: string;
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
