import { FAILURE_MAXIMUM_BYTES, type ResponseLimits, VALUES_MAXIMUM } from './response-limits.ts';
import { Oversized } from './unusable-response.ts';

/**
 * Reads the JSON of a response, and refuses it as soon as it exceeds the limits of what may be parsed: an empty
 * list of two bytes takes some twenty times as much memory once parsed.
 * @param body Not read to its end if this throws, or if a response with an error status is too long.
 * @throws Oversized, and what the body throws.
 */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  isFailure: boolean,
  limits: ResponseLimits,
): Promise<string> {
  const check = createShapeCheck(limits.depth);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (isFailure) {
      // Only the error matters, and it is short.
      if (size > FAILURE_MAXIMUM_BYTES) break;
    } else {
      if (size > limits.bytes) throw new Oversized(`of more than ${inUnits(limits.bytes)}`);
      check(chunk);
    }
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function inUnits(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const LIST_BEGINS = 0x5b;
const LIST_ENDS = 0x5d;
const OBJECT_BEGINS = 0x7b;
const OBJECT_ENDS = 0x7d;

/**
 * Checks the structure of JSON while it arrives.
 * @returns A function that takes one chunk after the other.
 * @throws Oversized as soon as lists and objects are nested too deep, or there are too many values.
 */
function createShapeCheck(depthMaximum: number): (chunk: Uint8Array) => void {
  let depth = 0;
  let values = 0;
  let isText = false;
  let isEscaped = false;

  function count(): void {
    values += 1;
    if (values > VALUES_MAXIMUM) throw new Oversized(`with more than ${VALUES_MAXIMUM} values`);
  }

  function enter(): void {
    count();
    depth += 1;
    if (depth > depthMaximum) throw new Oversized(`nested deeper than ${depthMaximum}`);
  }

  return chunk => {
    let quote = -1;
    let backslash = -1;
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index];
      if (isEscaped) isEscaped = false;
      else if (isText) {
        // Most of a response is text. Searching it is several times as fast as reading each byte.
        if (quote < index) quote = find(chunk, QUOTE, index);
        if (backslash < index) backslash = find(chunk, BACKSLASH, index);
        isEscaped = backslash < quote;
        isText = isEscaped || quote === chunk.length;
        index = Math.min(quote, backslash);
      } else if (byte === QUOTE) isText = true;
      else if (byte === COMMA) count();
      else if (byte === LIST_BEGINS || byte === OBJECT_BEGINS) enter();
      else if (byte === LIST_ENDS || byte === OBJECT_ENDS) depth -= 1;
    }
  };
}

/** Index of the next such byte; the length of the chunk if there is none. */
function find(chunk: Uint8Array, byte: number, from: number): number {
  const index = chunk.indexOf(byte, from);
  return index < 0 ? chunk.length : index;
}
