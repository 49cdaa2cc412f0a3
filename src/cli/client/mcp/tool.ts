import { PaymentsApiError } from '#client/index.ts';

/** JSON Schema of an object. */
interface InputSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly additionalProperties: false;
}

/** A read-only tool with which a model looks something up. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For the model: what it gets, and when it is of use. */
  readonly description: string;
  readonly input: InputSchema;
  /** @param given Validated against `input`. @returns Text or a JSON value. */
  run(given: Readonly<Record<string, unknown>>): Promise<unknown>;
}

interface Described<T> extends Omit<Tool, 'input' | 'run'> {
  readonly properties: InputSchema['properties'];
  readonly required?: readonly (keyof T & string)[];
  run(given: T): Promise<unknown>;
}

/** @typeParam T What the input schema lets pass. */
export function tool<T extends object>({ properties, required, ...described }: Described<T>): Tool {
  const { run } = described;
  return {
    ...described,
    input: {
      type: 'object',
      properties,
      additionalProperties: false,
      ...(required === undefined ? {} : { required }),
    },
    run: given => run(given as T),
  };
}

/** A UUID, in a schema. */
export function id(description: string) {
  return {
    type: 'string',
    pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
    description,
  };
}

/** Most characters of an answer: some ten thousand tokens. */
export const ANSWER_MAXIMUM = 40_000;

interface ToolResult {
  [key: string]: unknown;
  readonly content: { type: 'text'; text: string }[];
  readonly isError?: true;
}

/** The result of a tool, or why there is none, in words that a model can act on. */
export async function asResult(run: () => Promise<unknown>): Promise<ToolResult> {
  try {
    const found = await run();
    return textResult(typeof found === 'string' ? found : JSON.stringify(found, null, 1));
  } catch (error) {
    return { ...textResult(describe(error)), isError: true };
  }
}

function textResult(text: string): ToolResult {
  const cut = `${text.slice(0, ANSWER_MAXIMUM)}\n[cut: ask for less]`;
  return { content: [{ type: 'text', text: text.length > ANSWER_MAXIMUM ? cut : text }] };
}

function describe(error: unknown): string {
  if (!(error instanceof PaymentsApiError)) {
    return error instanceof Error ? error.message : String(error);
  }
  const { errorCode, message, requestId, retryAfterSeconds: seconds } = error;
  return [
    message,
    ...(errorCode === '' ? [] : [`The tool read_error explains ${errorCode}.`]),
    ...(seconds === undefined ? [] : [`Ask again in ${seconds} seconds.`]),
    ...(requestId === undefined ? [] : [`Request ID: ${requestId}`]),
  ].join('\n');
}
