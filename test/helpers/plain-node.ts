import {
  CALL_TIMEOUT_MS,
  type CallOptions,
  type Node,
  type NodeCall,
  NodeFailure,
  RpcError,
} from '#chains/nodes/node.ts';
import { parseJson } from '#chains/nodes/parse-json.ts';
import type { NodeAbilities } from '#storage/database/watching-tables.ts';

/** A node that records the calls to it. */
export interface PlainNode extends Node {
  /** Methods in the order of the calls, including those in batches. */
  readonly asked: string[];
  /** Number of requests for these calls. */
  readonly requests: number;
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string } | null;
}

const ABILITIES: NodeAbilities = {
  trace: null,
  logRange: null,
  batch: 100,
  archive: true,
  pruneHeight: null,
};

/**
 * A node without rate limit, back-off or checks, to test adapters against real nodes.
 * @param url May contain user and password.
 */
export function plainNode(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  abilities: Partial<NodeAbilities> = {},
): PlainNode {
  const target = new URL(url);
  const user = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`;
  const authorization: Record<string, string> =
    user === ':' ? {} : { authorization: `Basic ${btoa(user)}` };
  target.username = '';
  target.password = '';
  const asked: string[] = [];
  let requests = 0;

  async function send(address: URL, body: unknown, timeoutMs = CALL_TIMEOUT_MS): Promise<unknown> {
    requests += 1;
    try {
      const response = await fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...authorization, ...headers },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      return parseJson(await response.text());
    } catch (error) {
      throw new NodeFailure('the node did not answer', { cause: error });
    }
  }

  const rpcAt = (options: CallOptions | undefined) => new URL(options?.path ?? '', target);

  const toRequest = ({ method, params }: NodeCall, id: number) => {
    asked.push(method);
    return { jsonrpc: '2.0', id, method, params };
  };

  return {
    id: '00000000-0000-7000-8000-000000000000',
    label: 'plain',
    role: 'primary',
    abilities: { ...ABILITIES, ...abilities },
    asked,
    get requests() {
      return requests;
    },
    async call(method, params, options) {
      const body = toRequest({ method, params }, 0);
      const result = resultOf((await send(rpcAt(options), body, options?.timeoutMs)) as Answer);
      if (result instanceof RpcError) throw result;
      return result;
    },
    async batch(calls, options) {
      if (calls.length === 0) return [];
      const body = calls.map(toRequest);
      const answers = (await send(rpcAt(options), body, options?.timeoutMs)) as Answer[];
      if (!Array.isArray(answers)) throw new NodeFailure('the node refused the batch');
      return answers.toSorted((one, other) => one.id - other.id).map(resultOf);
    },
    post(path, body, options) {
      return send(new URL(path, target), body, options?.timeoutMs);
    },
  };
}

function resultOf({ error, result }: Answer): unknown | RpcError {
  return error ? new RpcError(error.code, error.message) : result;
}
