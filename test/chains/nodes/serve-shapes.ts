import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RESPONSE_MAXIMUM_BYTES, VALUES_MAXIMUM } from '#chains/nodes/response-limits.ts';

const NESTED_BYTES = 28 * 1024 * 1024;
/** Below the limit, by the size of what surrounds a result. */
const LONGEST_BYTES = RESPONSE_MAXIMUM_BYTES - 1_000;
const MOST_VALUES = VALUES_MAXIMUM - 100;

/** Results that take much more memory than bytes; those ending in "allowed" are parsed. */
export const SHAPES = {
  nested: () => nested('[', ']'),
  nestedObjects: () => nested('{"a":', '}').replace(':}', ':1}'),
  tooLong: () => `"${'0'.repeat(RESPONSE_MAXIMUM_BYTES)}"`,
  wide: () => object(LONGEST_BYTES / 8, index => `"${index.toString(36)}":1`),
  emptyLists: () => list(LONGEST_BYTES / 3, '[]'),
  wideAllowed: () => padded(object(MOST_VALUES, index => `"key${index}":1.5`)),
  emptyObjectsAllowed: () => padded(list(MOST_VALUES / 2, '{}')),
  objectsOfManyKindsAllowed: () =>
    padded(`[${each(MOST_VALUES / 2, index => `{"${index.toString(36)}":1.5}`)}]`),
  textsAllowed: () => padded(list(MOST_VALUES, '"abcdefghijkl"')),
  wideCharactersAllowed: () => `"€${'0'.repeat(LONGEST_BYTES - 10)}"`,
} as const satisfies Record<string, () => string>;

export type Shape = keyof typeof SHAPES;

function nested(begin: string, end: string): string {
  const depth = Math.floor(NESTED_BYTES / (begin.length + end.length));
  return begin.repeat(depth) + end.repeat(depth);
}

/** The same item over and over: a million repetitions are built in a moment. */
function list(length: number, item: string): string {
  return `[${`${item},`.repeat(Math.floor(length) - 1)}${item}]`;
}

function object(length: number, member: (index: number) => string): string {
  return `{${each(length, member)}}`;
}

function each(length: number, part: (index: number) => string): string {
  let text = part(0);
  for (let index = 1; index < Math.floor(length); index++) text += `,${part(index)}`;
  return text;
}

/** The value and a text after it, together as long as a response may be. */
function padded(value: string): string {
  return `[${value},"${'0'.repeat(LONGEST_BYTES - value.length - 5)}"]`;
}

interface RpcRequest {
  readonly id: number;
  readonly params: readonly unknown[];
}

/** Responds to every call with the shape that its first parameter names, or with `shapeOfAll`. */
export async function serveShapes(shapeOfAll?: Shape) {
  // Cached, since several calls request the same shape at a time, and building it takes longer than reading it.
  let last: { readonly shape: Shape; readonly bytes: Buffer } | undefined;
  const resultOf = (shape: Shape): Buffer => {
    if (last?.shape !== shape) last = { shape, bytes: Buffer.from(SHAPES[shape]()) };
    return last.bytes;
  };
  const server = createServer(async (request, response) => {
    response.on('error', () => undefined);
    let text = '';
    for await (const part of request) text += part;
    const asked: RpcRequest | RpcRequest[] = JSON.parse(text);
    const answers = [asked].flat().flatMap(({ id, params }, index) => {
      const shape = shapeOfAll ?? (String(params[0]) as Shape);
      const head = `${index === 0 ? '' : ','}{"jsonrpc":"2.0","id":${id},"result":`;
      return [Buffer.from(head), resultOf(shape), Buffer.from('}')];
    });
    const [begin, end] = Array.isArray(asked) ? '[]' : '';
    response.end(Buffer.concat([Buffer.from(begin ?? ''), ...answers, Buffer.from(end ?? '')]));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
