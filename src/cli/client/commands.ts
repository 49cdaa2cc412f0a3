import type { ClientCommand } from './command.ts';

type Load = () => Promise<{ readonly command: ClientCommand }>;

/** Commands that need only an API key, in the order of the client package's help. */
export const CLIENT_COMMANDS = {
  login: ['ask for a key, try it, and store it for the other commands', () => import('./login.ts')],
  doctor: [
    'check address, clock and key, and say what to do about what is wrong',
    () => import('./doctor.ts'),
  ],
  request: ['send a signed request to the API and show the response', () => import('./request.ts')],
  simulate: [
    'play what a customer and a chain do, on a payment of a test merchant',
    () => import('./simulate.ts'),
  ],
  explain: [
    'show how a signature is made, and why a refused one differs; or what an error means',
    () => import('./explain.ts'),
  ],
  listen: [
    'print events as they happen, and send them to a local server',
    () => import('./listen.ts'),
  ],
  events: [
    'list events, the newest first, with what became of their webhooks',
    () => import('./events.ts'),
  ],
  resend: [
    'send an event to a server of yours again, and show the response',
    () => import('./resend.ts'),
  ],
  conformance: [
    'try an implementation of signatures, or a receiver of webhooks, with genuine and forged examples',
    () => import('./conformance.ts'),
  ],
  mcp: [
    'let a language model look up payments, events and documentation (Model Context Protocol)',
    () => import('./mcp/mcp.ts'),
  ],
} as const satisfies Record<string, readonly [description: string, load: Load]>;

export type ClientCommandName = keyof typeof CLIENT_COMMANDS;
