/** Secrets of API keys, of the older contract's and of webhooks, by their prefixes and what follows them. */
const SECRET = /(mp[as]_(?=[\da-f]{8})|whsec_)[^&=/?#"\s]+/gi;
/** A printable ASCII character in percent-encoding, which may have been encoded again and again. */
const ENCODED = /%(?:25)*([2-7][\da-f])/gi;
/** How often a text is decoded: more encodings than a client makes by mistake. */
const DECODED_MOST = 4;

/**
 * A text without secrets of ours, which clients write where none belongs. If one shows only in the decoded text, the
 * result is the decoded text without it.
 * @param maskMore Masks what else is a secret there. Bare hex digits stay otherwise: most are hashes of transactions.
 */
export function maskSecrets(
  text: string,
  maskMore: (text: string) => string = shown => shown,
): string {
  const mask = (shown: string) => maskMore(shown.replaceAll(SECRET, '$1***'));
  let kept = mask(text);
  let form = kept;
  for (let decodings = 0; decodings < DECODED_MOST; decodings += 1) {
    const decoded = form.replaceAll(ENCODED, (_, hex) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (decoded === form) break;
    form = mask(decoded);
    if (form !== decoded) kept = form;
  }
  return kept;
}
