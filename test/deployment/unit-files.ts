/** What systemd reads from the files in deploy/. */

/** The values of a directive of a unit, in order. */
export function directivesOf(unit: string, directive: string): string[] {
  return [...unit.matchAll(new RegExp(`^${directive}=(.*)$`, 'gm'))].map(([, value = '']) => value);
}

/** Lines `NAME=value` as an environment. */
export function parseLines(lines: readonly string[]): Record<string, string> {
  const pairs = lines.filter(line => /^\w+=/.test(line)).map(line => line.split(/=(.*)/s));
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name, value]));
}
