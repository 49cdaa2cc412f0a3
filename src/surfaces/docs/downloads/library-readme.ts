import { readFileSync } from 'node:fs';

/** The address of the service in every README: that of a developer's own machine. */
const ADDRESS = 'http://127.0.0.1:3000';

/** What the README of a library begins with. */
interface Beginning {
  /** Commands that fetch and install it from the service. */
  readonly install: string;
  /** A program that creates a payment and reads it. */
  readonly example: string;
}

/**
 * Reads a library's install commands and its first example from its README, so that the guide shows the same.
 * @param folder Its folder in `clients/`.
 * @throws Error when the README has no commands, or no program after them.
 */
export function readBeginning(folder: string, publicUrl: string): Beginning {
  const file = new URL(`../../../../clients/${folder}/README.md`, import.meta.url);
  const blocks = /```sh\n(.*?)\n```.*?```\w+\n(.*?)\n```/s.exec(readFileSync(file, 'utf8'));
  const [, install, example] = blocks ?? [];
  if (install === undefined || example === undefined) {
    throw new Error(`clients/${folder}/README.md does not say how to begin.`);
  }
  return { install: install.replaceAll(ADDRESS, publicUrl), example };
}
