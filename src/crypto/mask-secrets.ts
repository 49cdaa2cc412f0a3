/** A prefix and the rest: secrets of API keys (`mps_`), keys of the older contract (`mpa_`), secrets of webhooks. */
const SECRET = /(mp[as]_(?=[\da-f]{8})|whsec_)[^&=/?#"\s]+/gi;
/** A printable ASCII character in percent-encoding, perhaps encoded several times. */
const ENCODED = /%(?:25)*([2-7][\da-f])/gi;
/** Maximum number of decodings: no client encodes a text so often by mistake. */
const DECODED_MOST = 4;

/**
 * Masks the service's secrets in a text, since clients write them where none belongs. If a secret shows only in the
 * decoded text, the result is the decoded text.
 * @param maskMore Masks further secrets. Without it bare hex digits stay: most are transaction hashes.
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
