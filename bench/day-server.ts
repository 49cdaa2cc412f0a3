import { type JsonServer, serveJson } from '../test/helpers/json-server.ts';

/** A JSON-RPC error. */
export class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Requests to a node so far. */
export interface Asked {
  requests: number;
  calls: number;
  /** Size of its responses. */
  bytes: number;
}

export interface RpcServer extends JsonServer {
  readonly asked: Asked;
}

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/**
 * Serves JSON-RPC, including batches.
 * @param resultOf Returns the result as JSON text: blocks are too large to serialize for each response.
 */
export async function serveRpc(
  resultOf: (method: string, params: readonly unknown[]) => string,
): Promise<RpcServer> {
  const asked: Asked = { requests: 0, calls: 0, bytes: 0 };
  const respondTo = ({ id, method, params }: Call): string => {
    asked.calls += 1;
    const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)}`;
    try {
      return `${head},"result":${resultOf(method, params)}}`;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message } = error;
      return `${head},"error":${JSON.stringify({ code, message })}}`;
    }
  };
  const server = await serveJson(given => {
    const body = given as Call | Call[];
    const response = Array.isArray(body) ? `[${body.map(respondTo).join(',')}]` : respondTo(body);
    asked.requests += 1;
    asked.bytes += response.length;
    return response;
  });
  return { ...server, asked };
}
