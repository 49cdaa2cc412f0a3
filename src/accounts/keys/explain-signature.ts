import type { Keyring } from '#crypto/keyring.ts';
import type { SignedParts } from '#signing/canonical.ts';
import { type Explanation, explainMismatch } from '#signing/explain-mismatch.ts';
import { usualMistakes } from '#signing/mistakes/usual-mistakes.ts';
import { withoutPrefix } from '#signing/sent-target.ts';
import type { ApiKey } from '#storage/database/key-tables.ts';
import { otherSecretsOf } from './other-secrets.ts';

/** A request and its signature, as somebody has copied them. */
interface CopiedRequest extends Omit<SignedParts, 'body'> {
  /** A browser's form sends each line feed as a carriage return and a line feed. */
  readonly body: string;
  readonly host?: string | undefined;
  readonly publicUrl: string;
  readonly signature: string;
}

interface ExplainedSignature extends Explanation {
  /** The mistakes that were tried without a match, in words. */
  readonly tried: readonly string[];
}

/**
 * Finds what is wrong with a signature, by the key's present secret. The result holds no secret and no signature.
 * @returns null for a revoked key, whose secrets are gone.
 */
export function explainSignature(
  keyring: Keyring,
  key: ApiKey,
  { body, host, publicUrl, signature, ...copied }: CopiedRequest,
): ExplainedSignature | null {
  if (key.secret === null) return null;
  const secret = keyring.open(key.secret, key.id, key.master_key_version);
  const sent = { ...copied, path: withoutPrefix(copied.path, publicUrl) };
  const hints = {
    keyId: key.id,
    host,
    publicUrl,
    otherSecrets: otherSecretsOf(key, keyring, secret),
  };
  const lines = body.replaceAll('\r\n', '\n');
  const bodies = [...new Set([lines, lines.replaceAll('\n', '\r\n')])];
  const explanations = bodies.map(text =>
    explainMismatch(secret, { ...sent, body: Buffer.from(text) }, signature, hints),
  );
  const found =
    explanations.find(({ matches }) => matches) ??
    explanations.find(({ findings }) => findings.length > 0);
  if (found !== undefined) return { ...found, tried: [] };
  const mistakes = usualMistakes('', { ...sent, body: Buffer.from(lines) }, hints);
  return {
    matches: false,
    findings: [],
    readable: explanations.some(({ readable }) => readable),
    tried: [...new Set(mistakes.map(({ made }) => made))],
  };
}
