import { readFile } from 'node:fs/promises';
import { CommandFailed } from '../terminal.ts';

const FILE_MARK = '@';

/**
 * Reads `--body`: the text itself or, after @, the name of a file.
 * @throws CommandFailed for a file that cannot be read or is not UTF-8.
 */
export async function readBody(flag: string): Promise<string> {
  if (!flag.startsWith(FILE_MARK)) return flag;
  const file = flag.slice(FILE_MARK.length);
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailed(`The body cannot be read from "${file}" (${error.code}).`);
  });
  try {
    // Keeps a byte order mark: the file is sent unchanged.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CommandFailed(`The body in "${file}" is not UTF-8 text.`);
  }
}
