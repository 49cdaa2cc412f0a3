import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import { readRawBody } from './raw-body.ts';

/**
 * Parses `multipart/form-data`, which browsers send for forms with files, into the same shape as `registerFormBody`.
 * A file becomes its content in base64; the field is empty if no file was chosen.
 *
 * Node's parser keeps the whole body in memory: use it only on routes with a small limit, for people who have signed
 * in.
 * @param limitBytes Size of the largest body.
 */
export function registerMultipartForm(app: FastifyInstance, limitBytes: number): void {
  app.addContentTypeParser('multipart/form-data', async (request: FastifyRequest) => {
    const body = await readRawBody(request.raw, limitBytes);
    return parseForm(request.headers['content-type'] ?? '', body);
  });
}

type Fields = Record<string, string | string[]>;

/** @throws ApiError E1000 */
async function parseForm(contentType: string, body: Buffer): Promise<Fields> {
  const headers = { 'content-type': contentType };
  const fields: Fields = Object.create(null);
  try {
    const form = await new Response(Uint8Array.from(body), { headers }).formData();
    for (const [name, value] of form) {
      const text = typeof value === 'string' ? value : await toBase64(value);
      const earlier = fields[name];
      if (earlier === undefined) fields[name] = text;
      else if (Array.isArray(earlier)) earlier.push(text);
      else fields[name] = [earlier, text];
    }
  } catch (cause) {
    throw new ApiError('E1000', 'The body is not a multipart form.', { cause });
  }
  return fields;
}

async function toBase64(file: Blob): Promise<string> {
  return Buffer.from(await file.arrayBuffer()).toString('base64');
}
