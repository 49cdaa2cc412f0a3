import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../errors/api-error.ts';

const TYPES = {
  'style.css': 'text/css; charset=utf-8',
  'script.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

type AssetName = keyof typeof TYPES;

const ASSETS = Object.fromEntries(
  Object.keys(TYPES).map(name => {
    const bytes = readFileSync(new URL(`./${name}`, import.meta.url));
    return [name, { bytes, hash: createHash('sha256').update(bytes).digest('hex').slice(0, 16) }];
  }),
) as Record<AssetName, { readonly bytes: Buffer; readonly hash: string }>;

const FOR_GOOD = 'public, max-age=31536000, immutable';
const NOT_FOR_LONG = 'public, max-age=60';

/** Path of an asset, which changes with its content. */
export function assetPath(basePath: string, name: AssetName): string {
  return `${basePath}/checkout/assets/${ASSETS[name].hash}/${name}`;
}

/** Serves style sheet, script and icon. */
export function registerAssets(app: FastifyInstance): void {
  app.get<{ Params: { hash: string; name: string } }>('/assets/:hash/:name', (request, reply) => {
    const { hash, name } = request.params;
    if (!isAsset(name)) throw new ApiError('E3001', 'There is no such file.');
    const { bytes, hash: current } = ASSETS[name];
    // While a new version is rolled out, a page and its assets may come from different replicas.
    const caching = hash === current ? FOR_GOOD : NOT_FOR_LONG;
    return reply.type(TYPES[name]).header('cache-control', caching).send(bytes);
  });
}

function isAsset(name: string): name is AssetName {
  return Object.hasOwn(TYPES, name);
}
