import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '#errors/api-error.ts';

const TYPES = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
} as const;

type AssetName = `${string}.${keyof typeof TYPES}`;

const FOR_GOOD = 'public, max-age=31536000, immutable';
const NOT_FOR_LONG = 'public, max-age=60';

/** Files that the pages of a part of the service load. */
export interface Assets<N extends AssetName> {
  /**
   * Path of a file, which changes with its content.
   * @param basePath The path that a proxy serves the service under; empty at the root.
   */
  path(basePath: string, name: N): string;
  /** Serves the files below the prefix of `app`. */
  register(app: FastifyInstance): void;
}

/** The style of all pages: colours, type, tables, code. */
export const BASE_STYLE = new URL('./base.css', import.meta.url);
/** Bar and navigation of the documentation and the panel. */
export const SHELL_STYLE = new URL('./shell.css', import.meta.url);

/**
 * Reads the files that a part of the service needs and keeps them.
 * @param prefix Where the part is, e.g. `/checkout`.
 */
export function openAssets<N extends AssetName>(
  prefix: string,
  files: Readonly<Record<N, URL>>,
): Assets<N> {
  const assets = new Map(
    Object.entries<URL>(files).map(([name, url]) => {
      const bytes = readFileSync(url);
      const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
      return [name, { bytes, hash, type: typeOf(name) }];
    }),
  );
  return {
    path: (basePath, name) => `${basePath}${prefix}/assets/${assets.get(name)?.hash}/${name}`,
    register(app) {
      app.get<{ Params: { hash: string; name: string } }>(
        '/assets/:hash/:name',
        (request, reply) => {
          const asset = assets.get(request.params.name);
          if (asset === undefined) throw new ApiError('E3001', 'There is no such file.');
          // While a new version is rolled out, a page and its assets may come from different replicas.
          const caching = request.params.hash === asset.hash ? FOR_GOOD : NOT_FOR_LONG;
          return reply.type(asset.type).header('cache-control', caching).send(asset.bytes);
        },
      );
    },
  };
}

function typeOf(name: string): string {
  const extension = name.slice(name.lastIndexOf('.') + 1);
  return TYPES[extension as keyof typeof TYPES];
}
