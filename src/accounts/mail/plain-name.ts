/** A dot before a letter or a digit; also the other characters that some programs read as a dot in a host name. */
const DOT = /[.\u3002\uff0e\uff61]+(?=[\p{L}\p{N}])/gu;

/**
 * A name chosen by people, for use in a plain-text mail: without control and format characters, which could
 * hide or reverse the text after them, and without anything that a mail program would show as a link.
 */
export function plainName(name: string): string {
  return name
    .replaceAll(/[\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
    .replaceAll(DOT, dots => `${dots} `)
    .replaceAll('://', ': //');
}
