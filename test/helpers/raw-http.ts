import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Answer } from './refusal.ts';

/** A request as it is sent: header lines may repeat, and nothing is corrected. */
export interface RawRequest {
  readonly method: string;
  /** The request target exactly as it is sent. */
  readonly target: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: Uint8Array | string | undefined;
  /** Chunk sizes of a chunked body; without them the body has a Content-Length. */
  readonly chunks?: readonly number[];
}

/** What came back on a connection until it ended, or until the given number of responses. */
export interface Conversation {
  readonly answers: readonly Answer[];
  readonly end: 'open' | 'closed' | 'reset';
}

/** The longest to wait for a response, in milliseconds; only a bug makes it take so long. */
const PATIENCE_MS = 30_000;

export function render({ method, target, headers = [], body, chunks }: RawRequest): Buffer {
  const bytes = Buffer.from(body ?? '');
  const framing: (readonly [string, string])[] =
    chunks !== undefined
      ? [['Transfer-Encoding', 'chunked']]
      : body === undefined
        ? []
        : [['Content-Length', String(bytes.length)]];
  const lines = [['Host', 'pay.example.test'] as const, ...headers, ...framing].map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  return Buffer.concat([head, chunks === undefined ? bytes : toChunks(bytes, chunks)]);
}

/** Sends bytes, and reads until `count` responses have come or the connection ends. */
export async function converse(
  port: number,
  bytes: Uint8Array | string,
  count = Number.POSITIVE_INFINITY,
): Promise<Conversation> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes);
  return readResponses(socket, count);
}

export async function readResponses(socket: Socket, count: number): Promise<Conversation> {
  let received = Buffer.alloc(0);
  const end = await new Promise<Conversation['end']>((resolve, reject) => {
    socket.setTimeout(PATIENCE_MS, () => reject(new Error(`no end after: ${received}`)));
    socket.on('data', data => {
      received = Buffer.concat([received, data]);
      if (parseResponses(received).length >= count) resolve('open');
    });
    socket.on('end', () => resolve('closed'));
    socket.on('error', () => resolve('reset'));
  }).finally(() => socket.destroy());
  return { answers: parseResponses(received, end !== 'open'), end };
}

/**
 * The complete responses at the beginning of `bytes`.
 * @param ended Whether nothing more comes, so that the last one may lack its body, as for HEAD.
 */
function parseResponses(bytes: Buffer, ended = false): Answer[] {
  const answers: Answer[] = [];
  let rest = bytes.toString('latin1');
  for (;;) {
    const split = rest.indexOf('\r\n\r\n');
    if (split === -1) return answers;
    const [statusLine = '', ...lines] = rest.slice(0, split).split('\r\n');
    const headers = Object.fromEntries(
      lines.map(line => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    const length = Number(headers['content-length'] ?? 0);
    const body = rest.slice(split + 4, split + 4 + length);
    if (body.length < length && !ended) return answers;
    const text = Buffer.from(body, 'latin1').toString();
    answers.push({ statusCode: Number(statusLine.split(' ')[1]), headers, body: text });
    rest = rest.slice(split + 4 + body.length);
  }
}

function toChunks(bytes: Buffer, sizes: readonly number[]): Buffer {
  const parts: Buffer[] = [];
  let offset = 0;
  for (const size of [...sizes, bytes.length]) {
    const chunk = bytes.subarray(offset, offset + size);
    offset += chunk.length;
    if (chunk.length > 0) {
      parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'));
    }
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}
