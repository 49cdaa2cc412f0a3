import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;
const PACKAGE = `../../node_modules/@foundry-rs/anvil-${process.platform}-${ARCHITECTURE}/bin/anvil`;

/** Path of the binary, from the environment or from the package for this platform; undefined without either. */
const binary =
  process.env.ANVIL ??
  [fileURLToPath(new URL(PACKAGE, import.meta.url))].find(path => existsSync(path));

export const hasAnvil = binary !== undefined;

/** Why tests that need anvil are skipped, for their names. */
export const ANVIL_MISSING =
  'needs anvil: npm install --include=optional, or set ANVIL to its path';

export interface AnvilOptions {
  /** Chain ID: 11155111 (Ethereum Sepolia) unless given. */
  readonly chainId?: number;
  /** Additional command-line flags, for example `--steps-tracing`. */
  readonly flags?: readonly string[];
}

export interface Anvil {
  /** Without a path. */
  readonly url: string;
  /** Calls a method and returns its result; throws with the node's message for an error. */
  // biome-ignore lint/suspicious/noExplicitAny: tests know what they ask for.
  rpc(method: string, params?: readonly unknown[]): Promise<any>;
  stop(): Promise<void>;
}

/**
 * Starts a local Ethereum node on a free port of 127.0.0.1. Only `anvil_mine` and `evm_mine` make blocks; a block is
 * safe two blocks later, and final four blocks later.
 */
export async function startAnvil({
  chainId = 11_155_111,
  flags = [],
}: AnvilOptions = {}): Promise<Anvil> {
  if (binary === undefined) throw new Error(ANVIL_MISSING);
  const anvil = spawn(
    binary,
    [
      ...['--port', '0', '--chain-id', String(chainId), '--no-mining'],
      ...['--slots-in-an-epoch', '2', ...flags],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(anvil, 'exit');
  const kill = () => anvil.kill('SIGKILL');
  process.once('exit', kill);
  let url: string | undefined;
  for await (const line of createInterface(anvil.stdout)) {
    const port = /^Listening on 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port === undefined) continue;
    url = `http://127.0.0.1:${port}`;
    break;
  }
  if (url === undefined) throw new Error('anvil did not start');
  const address = url;
  // It keeps printing each call.
  anvil.stdout.resume();
  return {
    url: address,
    async rpc(method, params = []) {
      const response = await fetch(address, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      const { result, error } = (await response.json()) as {
        result?: unknown;
        error?: { message: string };
      };
      if (error !== undefined) throw new Error(`${method}: ${error.message}`);
      return result;
    },
    async stop() {
      process.off('exit', kill);
      kill();
      await exited;
    },
  };
}
