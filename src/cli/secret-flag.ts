import { readFile } from 'node:fs/promises';
import { CommandFailed } from './terminal.ts';

const FILE_MARK = '@';

/**
 * Reads a flag whose value is a secret: the text itself or, after @, the name of a file, so that it need
 * not stand in the command line, which other users of the machine can see. White space around the text
 * of a file is left out.
 * @param what What the file has, for messages.
 * @throws CommandFailed for a file that cannot be read.
 */
export async function readSecretFlag(flag: string, what: string): Promise<string> {
  if (!flag.startsWith(FILE_MARK)) return flag;
  const file = flag.slice(FILE_MARK.length);
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandFailed(`${what} cannot be read from "${file}" (${code}).`);
  }
}
