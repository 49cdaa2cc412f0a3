import { readFile } from 'node:fs/promises';
import { CommandFailed } from './terminal.ts';

const FILE_MARK = '@';

/**
 * Reads a file that a flag names.
 * @param what What the file holds, for the message.
 * @throws CommandFailed for a file that cannot be read.
 */
export function readNamedFile(file: string, what: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailed(`${what} cannot be read from "${file}" (${error.code}).`);
  });
}

/**
 * Reads `--body`: the text itself or, after @, the name of a file.
 * @throws CommandFailed for a file that cannot be read or is not UTF-8.
 */
export async function readBody(flag: string): Promise<string> {
  if (!flag.startsWith(FILE_MARK)) return flag;
  const file = flag.slice(FILE_MARK.length);
  const bytes = await readNamedFile(file, 'The body');
  try {
    // Keeps a byte order mark: the file is sent unchanged.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CommandFailed(`The body in "${file}" is not UTF-8 text.`);
  }
}

/**
 * Reads a flag whose value is a secret: the text itself or, after @, the name of a file. A file keeps the secret out
 * of the command line, which other users of the machine can see. White space around a file's text is dropped.
 * @param what What the file holds, for the message.
 * @throws CommandFailed for a file that cannot be read.
 */
export async function readSecretFlag(flag: string, what: string): Promise<string> {
  if (!flag.startsWith(FILE_MARK)) return flag;
  return (await readNamedFile(flag.slice(FILE_MARK.length), what)).toString().trim();
}
