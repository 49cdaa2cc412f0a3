/** A dot, also as some programs read it in a host name, before a letter or a digit. */
const DOT = /[.\u3002\uff0e\uff61]+(?=[\p{L}\p{N}])/gu;

/**
 * A name that people have chosen, for a mail in plain text: without control and format characters, which could hide
 * or turn round what follows, and without anything that a program for mail would show as a link.
 */
export function plainName(name: string): string {
  return name
    .replaceAll(/[\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
    .replaceAll(DOT, dots => `${dots} `)
    .replaceAll('://', ': //');
}
