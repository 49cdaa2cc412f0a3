import { Buffer } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { SIGNING_VECTORS } from '#signing/vectors/index.ts';
import { LIBRARIES, packLibrary } from './libraries.ts';
import { type Download, integrityOf, sendDownload } from './serve-download.ts';
import { packWooCommerce, WOOCOMMERCE_PATH } from './woocommerce.ts';

/** Path of the examples that an implementation of signing can be tested with. */
const VECTORS_PATH = '/signing-vectors.json';

/** The libraries for other languages, the plugin, and the examples that they are tested with. */
export function registerDownloads(app: FastifyInstance): void {
  serveOnce(app, VECTORS_PATH, writeVectors);
  for (const library of LIBRARIES) serveOnce(app, library.path, () => packLibrary(library));
  serveOnce(app, WOOCOMMERCE_PATH, packWooCommerce);
}

/** Makes a file on the first request for it, and keeps it. */
function serveOnce(app: FastifyInstance, path: string, make: () => Download): void {
  let made: Download | undefined;
  app.get(path, (request, reply) => {
    made ??= make();
    return sendDownload(request, reply, made);
  });
}

function writeVectors(): Download {
  const bytes = Buffer.from(`${JSON.stringify(SIGNING_VECTORS, null, 2)}\n`);
  return { type: 'application/json; charset=utf-8', bytes, integrity: integrityOf(bytes) };
}
