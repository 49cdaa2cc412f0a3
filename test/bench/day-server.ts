import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A refusal of JSON-RPC. */
export class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** What a node was asked so far. */
export interface Asked {
  requests: number;
  calls: number;
  /** Sent in answer. */
  bytes: number;
}

export interface RpcServer {
  readonly url: string;
  readonly asked: Asked;
  stop(): Promise<void>;
}

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/**
 * Serves JSON-RPC, also in batches.
 * @param answer The result as JSON text: blocks are too large to be written anew for each answer.
 */
export async function serveRpc(
  answer: (method: string, params: readonly unknown[]) => string,
): Promise<RpcServer> {
  const asked: Asked = { requests: 0, calls: 0, bytes: 0 };
  const answerOne = ({ id, method, params }: Call): string => {
    asked.calls += 1;
    const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)}`;
    try {
      return `${head},"result":${answer(method, params)}}`;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message } = error;
      return `${head},"error":${JSON.stringify({ code, message })}}`;
    }
  };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const body: Call | Call[] = JSON.parse(text);
    const answered = Array.isArray(body) ? `[${body.map(answerOne).join(',')}]` : answerOne(body);
    asked.requests += 1;
    asked.bytes += answered.length;
    response.setHeader('content-type', 'application/json');
    response.end(answered);
  });
  // A connection must not end just when it is used again.
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
