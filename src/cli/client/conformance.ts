import { SIGNING_VECTORS } from '#signing/vectors/index.ts';
import { TEST_ID_PREFIX } from '#signing/vectors/test-payment.ts';
import { cell, type JsonFlag, printJson, printLines } from '../print.ts';
import { FailureShown, type Terminal } from '../terminal.ts';
import { defineCommand, JSON_OPTION, WrongUsage } from './command.ts';
import { answerOf } from './conformance-answer.ts';
import {
  compareAnswers,
  type Document,
  type Judged,
  judgeRequest,
  judgeWebhook,
} from './conformance-judge.ts';
import { judgeReceiver } from './conformance-webhook.ts';

const KINDS = ['requests', 'webhooks'] as const;

interface ConformanceFlags extends JsonFlag {
  readonly command?: string;
  readonly webhook?: string;
  readonly only?: (typeof KINDS)[number];
}

/** Every example, with a function that judges the answer. */
const EXAMPLES = [
  ...SIGNING_VECTORS.requests.map(vector => ({
    kind: KINDS[0],
    ...vector,
    judge: (document: Document) => judgeRequest(vector, document),
    compare: compareAnswers,
  })),
  ...SIGNING_VECTORS.webhooks.map(vector => ({
    kind: KINDS[1],
    ...vector,
    judge: (document: Document) => judgeWebhook(vector, document),
    compare: () => undefined,
  })),
];

const NOTES = `
With --command, the command gets one JSON document on standard input and prints one on standard output.

  given    {"kind": "request", "keyId", "secret", "passphrase", "host", "method", "path", "body", "timestamp", "nonce"}
  printed  {"headers": {"X-MP-KEY-ID": "…", …}}: the five signing headers
  given    {"kind": "webhook", "secrets": [], "headers": {}, "body", "now", "toleranceSeconds"}
  printed  {"valid": true} or {"valid": false}

Timestamps are Unix seconds, bodies are UTF-8. The examples with what is expected are at /signing-vectors.json.
With --webhook, a receiver with the secret in WEBHOOK_SECRET has to answer 2xx to the genuine ones, one of
which comes twice, and anything else to the others. They are of a payment that does not exist, and their IDs
begin with ${TEST_ID_PREFIX}.
Exit status: 0 when every example is right, 1 otherwise.`;

/** `mp conformance` */
export const command = defineCommand<ConformanceFlags>({
  positionals: [],
  options: [
    JSON_OPTION,
    {
      flags: '--command <command>',
      description: 'what to run for each example, by the shell',
    },
    {
      flags: '--webhook <url>',
      description: 'instead: your receiver, which gets genuine and forged webhooks',
    },
    {
      flags: '--only <kind>',
      description: 'with --command, leave the other kind of examples out',
      choices: KINDS,
    },
  ],
  notes: NOTES,
  async run({ terminal }, flags) {
    const judged: Judged[] = [];
    for await (const each of begin(terminal, flags)) {
      judged.push(each);
      if (!flags.json) printLines(terminal, linesOf(each));
    }
    const wrong = judged.filter(({ mistakes }) => mistakes.length > 0);
    const right = `${judged.length - wrong.length} of ${judged.length} are right.`;
    if (flags.json) printJson(terminal, { conforms: wrong.length === 0, examples: judged });
    else printLines(terminal, ['', right]);
    if (wrong.length > 0) throw new FailureShown();
  },
});

function begin(terminal: Terminal, { command, webhook, only }: ConformanceFlags) {
  if (command !== undefined && webhook === undefined) return judgeAll(terminal, command, only);
  if (webhook !== undefined && command === undefined && only === undefined) {
    return judgeReceiver(webhook, terminal);
  }
  throw new WrongUsage('give either --command or --webhook');
}

/** Runs the command for one example after the other. */
async function* judgeAll(
  { env, untilInterrupted }: Terminal,
  command: string,
  only: ConformanceFlags['only'],
): AsyncGenerator<Judged, void, undefined> {
  // The command has a process group of its own, so that Ctrl-C does not reach it.
  const signal = untilInterrupted?.();
  for (const { kind, name, given, judge, compare } of EXAMPLES) {
    if (only !== undefined && only !== kind) continue;
    const ask = () => answerOf(command, given, { env, signal });
    const { problem, document } = await ask();
    const mistakes = problem ?? judge(document);
    if (mistakes.length > 0 && document !== undefined) {
      const differs = compare(document, (await ask()).document ?? document);
      yield { name, mistakes: differs === undefined ? mistakes : [differs] };
    } else {
      yield { name, mistakes };
    }
  }
}

function linesOf({ name, mistakes }: Judged): string[] {
  const [mark, ...more] = mistakes.length === 0 ? ['right'] : ['WRONG', ...mistakes];
  const lines = more.flatMap(mistake => mistake.split('\n'));
  return [`${mark}  ${name}`, ...lines.map(line => `       ${cell(line.trimEnd())}`)];
}
