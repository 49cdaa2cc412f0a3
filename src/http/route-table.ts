import type { FastifyInstance } from 'fastify';
import { editsBetween } from './edit-distance.ts';

interface KnownRoute {
  readonly method: string;
  readonly segments: readonly string[];
  /** Whether it is a route of the public API. */
  readonly isApi: boolean;
}

/** Routes similar to a request that matched none. */
interface NearRoutes {
  /** Methods of the path, in alphabetical order. */
  readonly methods: readonly string[];
  /** Whether it is a path of the public API. */
  readonly isApi: boolean;
  /**
   * The most similar path of the public API, with the parameters as sent; undefined if the path itself has a route.
   */
  readonly meant: string | undefined;
}

/**
 * Collects every route registered from now on, to explain why a request matched none: the router only says that there
 * is no match.
 */
export function collectRoutes(app: FastifyInstance): (path: string) => NearRoutes {
  const routes: KnownRoute[] = [];
  app.addHook('onRoute', ({ method, url, config }) => {
    const segments = url.split('/');
    const isApi = config?.operation !== undefined;
    for (const each of [method].flat()) routes.push({ method: each, segments, isApi });
    // A prefix has two routes, with and without a slash. Fastify calls this hook for the HEAD of both, but for the
    // GET of only one.
    if (method === 'HEAD') routes.push({ method: 'GET', segments, isApi });
  });
  return path => {
    const sent = path.split('/');
    const found = routes.filter(({ segments }) => editsOf(segments, sent, 0) === 0);
    const isApi = found.some(route => route.isApi);
    const methods = [...new Set(found.map(({ method }) => method))].toSorted();
    if (found.length > 0) return { methods, isApi, meant: undefined };
    // The most frequent mistake is a slash at the end.
    return { methods, isApi, meant: nearestPath(routes, path.replace(/\/$/, '').split('/')) };
  };
}

function nearestPath(routes: readonly KnownRoute[], sent: readonly string[]): string | undefined {
  let best: { segments: readonly string[]; edits: number } | undefined;
  for (const { segments, isApi } of routes) {
    const edits = isApi ? editsOf(segments, sent, 2) : undefined;
    if (edits !== undefined && (best === undefined || edits < best.edits)) {
      best = { segments, edits };
    }
  }
  return best?.segments.map((segment, at) => (isParameter(segment) ? sent[at] : segment)).join('/');
}

/** Edit distance between a path and a route's, summed over their segments; undefined above `most`. */
function editsOf(
  segments: readonly string[],
  sent: readonly string[],
  most: number,
): number | undefined {
  const isOpen = segments.at(-1) === '*';
  if (isOpen ? sent.length < segments.length : sent.length !== segments.length) return undefined;
  let edits = 0;
  for (const [at, segment] of segments.entries()) {
    const text = sent[at] ?? '';
    if (segment === '*' || (isParameter(segment) && text !== '')) continue;
    edits += editsBetween(segment, text) ?? Number.POSITIVE_INFINITY;
    if (edits > most) return undefined;
  }
  return edits;
}

function isParameter(segment: string): boolean {
  return segment.startsWith(':');
}
