import { pathOf } from '#http/request-target.ts';
import { V1_PREFIX } from '../../api/v1/index.ts';
import { LEGACY_PREFIX } from './paths.ts';

const PROMPT = /^\/payments\/prompt(?:\/(?<id>[0-9a-f-]{36}))?$/i;

export interface DeprecationSettings {
  readonly publicUrl: string;
  /** Since when the older contract is deprecated; null without a date. */
  readonly deprecation: Date | null;
  /** When the older contract ends; null while undecided. */
  readonly sunset: Date | null;
}

/**
 * Headers of every response of the older contract: a Link to the route of v1 that replaces it and, if they are
 * set, the dates Deprecation (RFC 9745) and Sunset (RFC 8594).
 * @param target The request target, as sent.
 */
export function deprecationHeaders(
  target: string,
  { publicUrl, deprecation, sunset }: DeprecationSettings,
): Record<string, string> {
  return {
    link: `<${publicUrl}${successorOf(target)}>; rel="successor-version"`,
    ...(deprecation === null
      ? {}
      : { deprecation: `@${Math.floor(deprecation.getTime() / 1000)}` }),
    ...(sunset === null ? {} : { sunset: sunset.toUTCString() }),
  };
}

/** The route of v1 that replaces a request target, or V1_PREFIX when there is none. */
function successorOf(target: string): string {
  const path = pathOf(target);
  const route = path.startsWith(LEGACY_PREFIX) ? path.slice(LEGACY_PREFIX.length) : '';
  if (route === '/blockchains/active') return V1_PREFIX + route;
  const prompt = PROMPT.exec(route);
  if (prompt === null) return V1_PREFIX;
  const { id } = prompt.groups ?? {};
  return id === undefined ? V1_PREFIX + route : `${V1_PREFIX}/payments/${id}`;
}
