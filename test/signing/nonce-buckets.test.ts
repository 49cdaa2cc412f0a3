import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KEY_ID_BYTES, KEY_ID_PREFIX } from '#accounts/keys/manage-keys.ts';
import { bucketOf, NONCE_BUCKETS } from '#signing/nonce-buckets.ts';

const SLOTS = 16_384;

const keyIds = fc
  .uint8Array({ minLength: KEY_ID_BYTES, maxLength: KEY_ID_BYTES })
  .map(bytes => KEY_ID_PREFIX + Buffer.from(bytes).toString('hex'));

test('each key has a bucket, whatever its ID', () => {
  fc.assert(
    fc.property(fc.oneof(keyIds, fc.string()), keyId => {
      expect(NONCE_BUCKETS[bucketOf(keyId)]).toBeDefined();
    }),
    { examples: [['-1'], ['']] },
  );
});

test('keys are spread evenly over the buckets', () => {
  fc.assert(
    fc.property(fc.nat(), seed => {
      const share = 100;
      const counts = NONCE_BUCKETS.map(() => 0);
      for (let index = 0; index < share * counts.length; index++) {
        const random = hash('sha256', `${seed} ${index}`).slice(0, 2 * KEY_ID_BYTES);
        const bucket = bucketOf(KEY_ID_PREFIX + random);
        counts[bucket] = (counts[bucket] ?? 0) + 1;
      }
      // Six standard deviations: fewer than one in ten million seeds would fail.
      const far = 6 * Math.sqrt(share * (1 - 1 / counts.length));
      for (const count of counts) expect(Math.abs(count - share)).toBeLessThan(far);
    }),
  );
});

test('buckets are spread evenly over up to six masters that divide the slots evenly', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), masters => {
      const counts = Array.from({ length: masters }, () => 0);
      for (const { slot } of NONCE_BUCKETS) {
        const master = Math.floor((slot * masters) / SLOTS);
        counts[master] = (counts[master] ?? 0) + 1;
      }
      expect(Math.min(...counts)).toBeGreaterThan(0);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    }),
  );
});
