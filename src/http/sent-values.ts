import type { IncomingMessage } from 'node:http';

/**
 * Every value that was sent under a header's name. Node's own `headers` joins several, or keeps the first.
 * @param header In lower case.
 */
export function sentValues({ rawHeaders }: IncomingMessage, header: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === header.length && name.toLowerCase() === header) {
      values.push(rawHeaders[index + 1] ?? '');
    }
  }
  return values;
}
