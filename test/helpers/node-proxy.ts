import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the proxy does instead of forwarding a request. */
type Misbehaviour =
  /** Responds with a status, and with `Retry-After` in seconds if given. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: number }
  /** Responds with these bytes and status 200, or the given one. */
  | { readonly kind: 'body'; readonly body: string; readonly status?: number }
  | { readonly kind: 'html' | 'truncated' | 'wrong-id' | 'error-object' | 'redirect' }
  | { readonly kind: Silence }
  /** Responds only to single calls, or to batches of at most `size` calls. */
  | { readonly kind: 'batch-refused'; readonly size?: number };

/** Does not respond, sends far too much, or ends the connection. */
type Silence = 'hanging' | 'oversized' | 'reset';

/** Changes the result of a call; throw an RpcRefusal to respond with an error. */
export type Alter = (method: string, params: readonly unknown[], result: unknown) => unknown;

/** Thrown by `alter`: the JSON-RPC error to respond with instead of the result. */
export class RpcRefusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

interface SeenCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface NodeProxy {
  readonly url: string;
  /** Every call that arrived, including those in batches. */
  readonly calls: SeenCall[];
  /** Headers, path and number of calls of each request that arrived. */
  readonly requests: {
    readonly headers: NodeJS.Dict<string | string[]>;
    readonly path: string;
    readonly size: number;
  }[];
  /** Misbehaves for `times` requests, or until it is called again; null ends it. */
  misbehave(how: Misbehaviour | null, times?: number): void;
  /** Alters each result of the node; null forwards them unchanged. */
  alter(change: Alter | null): void;
  /** Forwards requests to another node from now on. */
  redirect(upstream: string): void;
  /** Closes idle connections. */
  disconnect(): void;
  stop(): Promise<void>;
}

interface RpcRequest extends SeenCall {
  readonly id: unknown;
}

interface RpcResponse {
  readonly id: unknown;
  readonly result?: unknown;
}

/** Longer than any response that is accepted. */
const OVERSIZED_BYTES = 65 * 1024 * 1024;
const HTML = '<!doctype html><title>502 Bad Gateway</title><h1>Bad Gateway</h1>';

/** A proxy for a JSON-RPC node that misbehaves as providers do. Its URL has a path. */
export async function startNodeProxy(first: string): Promise<NodeProxy> {
  let upstream = first;
  const calls: SeenCall[] = [];
  const requests: NodeProxy['requests'] = [];
  let misbehaviour: Misbehaviour | null = null;
  let remaining = Number.POSITIVE_INFINITY;
  let change: Alter | null = null;

  const server = createServer(async (request, response) => {
    response.on('error', () => undefined);
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const asked: RpcRequest | RpcRequest[] = JSON.parse(text);
      const list = Array.isArray(asked) ? asked : [asked];
      calls.push(...list.map(({ method, params }) => ({ method, params })));
      requests.push({ headers: request.headers, path: request.url ?? '', size: list.length });
      const how = remaining > 0 ? misbehaviour : null;
      if (how !== null && isConcerned(how, asked)) {
        remaining -= 1;
        misbehave(how, response, list);
        return;
      }
      const { authorization } = request.headers;
      const answer = await fetch(upstream, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
        body: text,
      });
      const body = await answer.text();
      const { status } = answer;
      send(response, { status, body: change === null ? body : altered(body, list, change) });
    } catch {
      response.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1/secret-of-the-path`,
    calls,
    requests,
    misbehave(how, times = Number.POSITIVE_INFINITY) {
      misbehaviour = how;
      remaining = times;
    },
    alter(alter) {
      change = alter;
    },
    redirect(other) {
      upstream = other;
    },
    disconnect: () => server.closeIdleConnections(),
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function isConcerned(how: Misbehaviour, asked: RpcRequest | RpcRequest[]): boolean {
  return how.kind !== 'batch-refused' || (Array.isArray(asked) && asked.length > (how.size ?? 0));
}

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function misbehave(how: Misbehaviour, response: ServerResponse, list: readonly RpcRequest[]): void {
  switch (how.kind) {
    case 'hanging':
      break;
    case 'reset':
      response.destroy();
      break;
    case 'oversized':
      sendOversized(response, list[0]?.id);
      break;
    default:
      send(response, replyOf(how, list));
  }
}

function replyOf(
  how: Exclude<Misbehaviour, { readonly kind: Silence }>,
  list: readonly RpcRequest[],
): Reply {
  const answers = list.map(({ id }) => ({ jsonrpc: '2.0', id, result: '0x1' }));
  switch (how.kind) {
    case 'status': {
      const { status, retryAfter } = how;
      const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
      return { status, body: `status ${status}`, headers };
    }
    case 'body':
      return { status: how.status ?? 200, body: how.body };
    case 'html':
      return { status: 200, body: HTML, headers: { 'content-type': 'text/html' } };
    case 'truncated':
      return { status: 200, body: JSON.stringify(answers).slice(0, -5) };
    case 'wrong-id':
      return { status: 200, body: JSON.stringify({ ...answers[0], id: 987_654 }) };
    case 'error-object':
      return { status: 200, body: '{"Error":"class java.lang.RuntimeException : busy"}' };
    case 'redirect':
      return { status: 307, body: '', headers: { location: '/elsewhere' } };
    case 'batch-refused': {
      const error = { code: -32600, message: 'batch requests are not supported' };
      return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id: null, error }) };
    }
  }
}

function send(response: ServerResponse, { status, body, headers = {} }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

/** Sends until the client aborts. */
function sendOversized(response: ServerResponse, id: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(`{"jsonrpc":"2.0","id":${id},"result":"`);
  const chunk = Buffer.alloc(1024 * 1024, '0');
  let sent = 0;
  const more = () => {
    while (sent < OVERSIZED_BYTES) {
      sent += chunk.length;
      if (!response.write(chunk)) return;
    }
    response.off('drain', more).end('"}');
  };
  response.on('drain', more);
  more();
}

function altered(body: string, list: readonly RpcRequest[], change: Alter): string {
  const answer: RpcResponse | RpcResponse[] = JSON.parse(body);
  const alterOne = (one: RpcResponse) => {
    const call = list.find(({ id }) => id === one.id);
    if (call === undefined || !Object.hasOwn(one, 'result')) return one;
    try {
      return { ...one, result: change(call.method, call.params, one.result) };
    } catch (error) {
      if (!(error instanceof RpcRefusal)) throw error;
      const { code, message } = error;
      return { jsonrpc: '2.0', id: one.id, error: { code, message } };
    }
  };
  return JSON.stringify(Array.isArray(answer) ? answer.map(alterOne) : alterOne(answer));
}
