import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseBlock } from '#chains/bitcoin/block.ts';
import { MalformedBytes } from '#chains/bitcoin/byte-reader.ts';
import { parseTransaction } from '#chains/bitcoin/transaction.ts';
import {
  type Draft,
  doubleHash,
  reversed,
  rootOf,
  serialize,
  serializeBlock,
} from './serialize.ts';

const bytes = (maxLength: number, minLength = 0) => fc.uint8Array({ minLength, maxLength });

/** Some scripts need a length prefix longer than one byte. */
const script = fc.oneof(
  { weight: 9, arbitrary: bytes(40) },
  { weight: 1, arbitrary: fc.integer({ min: 252, max: 70_000 }).map(size => new Uint8Array(size)) },
);

const draft: fc.Arbitrary<Draft> = fc.record({
  version: fc.nat(),
  inputs: fc.array(
    fc.record({
      hash: bytes(32, 32),
      index: fc.nat(),
      script,
      witness: fc.array(bytes(80), { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  outputs: fc.array(fc.record({ value: fc.bigInt(0n, 2_100_000_000_000_000n), script }), {
    minLength: 1,
    maxLength: 4,
  }),
  lockTime: fc.nat(),
});

const COINBASE: Draft = {
  version: 2,
  inputs: [
    {
      hash: new Uint8Array(32),
      index: 0xffff_ffff,
      script: Uint8Array.of(1, 1),
      witness: [new Uint8Array(32)],
    },
  ],
  outputs: [{ value: 5_000_000_000n, script: Uint8Array.of(0x51) }],
  lockTime: 0,
};

const idOf = (each: Draft) => doubleHash(serialize(each, false));

function blockOf(drafts: readonly Draft[], root = rootOf(drafts.map(idOf))) {
  return serializeBlock(
    drafts.map(each => serialize(each)),
    root,
  );
}

/** Distinct transactions after a coinbase. */
const drafts = (minLength: number) =>
  fc
    .array(draft, { minLength, maxLength: 9 })
    .map(list => [COINBASE, ...list.map((each, lockTime) => ({ ...each, lockTime }))]);

/** A few positions in a list, including its ends. */
const placesIn = (length: number) =>
  length < 400
    ? Array.from({ length }, (_, place) => place)
    : Array.from({ length: 400 }, (_, step) => Math.floor((step * (length - 1)) / 399));

describe('transactions', () => {
  test('are parsed as they were written, with witness or without', () => {
    const property = fc.property(draft, each => {
      for (const withWitness of [true, false]) {
        const parsed = parseTransaction(serialize(each, withWitness).toString('hex'));
        expect(parsed.id).toBe(reversed(idOf(each)));
        expect(parsed.isCoinbase).toBe(false);
        expect(parsed.inputs).toEqual(
          each.inputs.map(({ hash, index }) => `${reversed(hash)}:${index}`),
        );
        expect(parsed.outputs).toEqual(
          each.outputs.map(output => ({
            value: output.value,
            script: Buffer.from(output.script).toString('hex'),
          })),
        );
      }
    });
    fc.assert(property);
  });

  test('are refused wherever they are cut off, and with a byte too many', () => {
    const property = fc.property(draft, each => {
      const whole = serialize(each);
      for (const end of placesIn(whole.length)) {
        const part = whole.subarray(0, end).toString('hex');
        expect(() => parseTransaction(part)).toThrow(MalformedBytes);
      }
      expect(() => parseTransaction(`${whole.toString('hex')}00`)).toThrow('1 bytes too many');
    });
    fc.assert(property, { numRuns: 20 });
  });

  test('are parsed or refused quickly, whatever the bytes', () => {
    const soup = fc.oneof(
      bytes(300),
      // Plausible beginnings: the version, then a number of inputs.
      fc.tuple(fc.constantFrom(0, 1, 2, 0xfd, 0xfe, 0xff), bytes(300)).map(([count, rest]) => {
        return Uint8Array.of(1, 0, 0, 0, count, ...rest);
      }),
    );
    const property = fc.property(soup, each => {
      try {
        parseTransaction(Buffer.from(each).toString('hex'));
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedBytes);
      }
    });
    fc.assert(property, { numRuns: 500 });
  });

  test.each([
    ['an odd digit', '010', 'not hex'],
    ['other characters', '01zz', 'not hex'],
    ['no inputs', '01000000000000', 'no inputs'],
    ['more inputs than bytes', '01000000feffffff7f', 'do not fit'],
    ['a length of eight bytes', '01000000ff0100000000000000', 'takes eight bytes'],
    ['a length in more bytes than it needs', `01000000fd0100${'00'.repeat(60)}`, 'shortest form'],
  ])('with %s are refused', (_, hex, reason) => {
    expect(() => parseTransaction(hex)).toThrow(reason);
  });

  test('with more than all coins, or an announced but empty witness, are refused', () => {
    const rich = {
      ...COINBASE,
      outputs: [{ value: 2_100_000_000_000_001n, script: new Uint8Array() }],
    };
    expect(() => parseTransaction(serialize(rich).toString('hex'))).toThrow('more than all coins');
    const plain = serialize(COINBASE, false).toString('hex');
    const announced = `${plain.slice(0, 8)}0001${plain.slice(8, -8)}00${plain.slice(-8)}`;
    expect(() => parseTransaction(announced)).toThrow('announced and empty');
  });
});

describe('blocks', () => {
  test('are parsed as they were written, if hash and transactions match the header', () => {
    const property = fc.property(drafts(0), list => {
      const { hex, hash } = blockOf(list);
      const block = parseBlock(hex, hash);
      expect(block.hash).toBe(hash);
      expect(block.parentHash).toBe('07'.repeat(32));
      expect(block.time).toEqual(new Date(0x0909_0909 * 1_000));
      expect(block.transactions.map(({ id }) => id)).toEqual(
        list.map(each => reversed(idOf(each))),
      );
      expect(block.transactions.map(({ isCoinbase }) => isCoinbase)).toEqual(
        list.map((_, index) => index === 0),
      );
      expect(block.transactions[0]?.inputs).toEqual([]);
      expect(() => parseBlock(hex, '00'.repeat(32))).toThrow('its hash is');
    });
    fc.assert(property, { numRuns: 30 });
  });

  test('are refused wherever they are cut off, and with a byte too many', () => {
    const property = fc.property(drafts(1), list => {
      const { hex, hash } = blockOf(list);
      for (const end of placesIn(hex.length / 2)) {
        expect(() => parseBlock(hex.slice(0, 2 * end), hash)).toThrow(MalformedBytes);
      }
      expect(() => parseBlock(`${hex}00`, hash)).toThrow('1 bytes too many');
    });
    fc.assert(property, { numRuns: 10 });
  });

  test('are refused with another transaction, one less or one more', () => {
    const property = fc.property(drafts(1), draft, (list, other) => {
      const root = rootOf(list.map(idOf));
      for (const forged of [
        [...list.slice(0, -1), { ...other, lockTime: 1_000_000 }],
        list.slice(0, -1),
        [...list, { ...other, lockTime: 1_000_000 }],
      ]) {
        const { hex, hash } = blockOf(forged, root);
        expect(() => parseBlock(hex, hash)).toThrow('not those of the header');
      }
    });
    fc.assert(property, { numRuns: 30 });
  });

  test('are refused with transactions repeated at the end, which does not change the root', () => {
    const property = fc.property(drafts(2), list => {
      const odd = list.length % 2 === 1 ? list : list.slice(0, -1);
      const repeated = [...odd, ...odd.slice(-1)];
      expect(rootOf(repeated.map(idOf))).toEqual(rootOf(odd.map(idOf)));
      const { hex, hash } = blockOf(repeated);
      expect(() => parseBlock(hex, hash)).toThrow('transactions are repeated');
    });
    fc.assert(property, { numRuns: 30 });
    // Two leaves at once: six transactions are 2 + 2 + 2, and the last pair has no partner.
    const six = Array.from({ length: 6 }, (_, lockTime) =>
      lockTime === 0 ? COINBASE : { ...COINBASE, inputs: [spend(lockTime)] },
    );
    const eight = [...six, ...six.slice(-2)];
    expect(rootOf(eight.map(idOf))).toEqual(rootOf(six.map(idOf)));
    const { hex, hash } = blockOf(eight);
    expect(() => parseBlock(hex, hash)).toThrow('transactions are repeated');
  });

  test('are refused without a coinbase, with a second one, and without anything', () => {
    const other = { ...COINBASE, inputs: [spend(1)] };
    for (const list of [[other], [other, COINBASE], [COINBASE, { ...COINBASE, lockTime: 1 }]]) {
      const { hex, hash } = blockOf(list);
      expect(() => parseBlock(hex, hash)).toThrow('the coinbase is not');
    }
    const { hex, hash } = blockOf([], Buffer.alloc(32));
    expect(() => parseBlock(hex, hash)).toThrow('no transactions');
  });

  test('are refused when they are longer than a block may be', () => {
    expect(() => parseBlock('00'.repeat(4_000_001), '00'.repeat(32))).toThrow('more than 4000000');
  });
});

function spend(index: number): Draft['inputs'][number] {
  return { hash: new Uint8Array(32).fill(1), index, script: new Uint8Array(), witness: [] };
}

describe('known blocks of the main network', () => {
  test('the first one', () => {
    const block = parseBlock(
      '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c0101000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000',
      '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
    );
    expect(block.time).toEqual(new Date('2009-01-03T18:15:05Z'));
    expect(block.transactions).toMatchObject([
      {
        id: '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
        isCoinbase: true,
        outputs: [{ value: 5_000_000_000n }],
      },
    ]);
  });

  test('the first one with a payment, 170', () => {
    const block = parseBlock(
      '0100000055bd840a78798ad0da853f68974f3d183e2bd1db6a842c1feecf222a00000000ff104ccb05421ab93e63f8c3ce5c2c2e9dbb37de2764b3a3175c8166562cac7d51b96a49ffff001d283e9e700201000000010000000000000000000000000000000000000000000000000000000000000000ffffffff0704ffff001d0102ffffffff0100f2052a01000000434104d46c4968bde02899d2aa0963367c7a6ce34eec332b32e42e5f3407e052d64ac625da6f0718e7b302140434bd725706957c092db53805b821a85b23a7ac61725bac000000000100000001c997a5e56e104102fa209c6a852dd90660a20b2d9c352423edce25857fcd3704000000004847304402204e45e16932b8af514961a1d3a1a25fdf3f4f7732e9d624c6c61548ab5fb8cd410220181522ec8eca07de4860a4acdd12909d831cc56cbbac4622082221a8768d1d0901ffffffff0200ca9a3b00000000434104ae1a62fe09c5f51b13905f07f06b99a2f7159b2225f374cd378d71302fa28414e7aab37397f554a7df5f142c21c1b7303b8a0626f1baded5c72a704f7e6cd84cac00286bee0000000043410411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5cb2e0eaddfb84ccf9744464f82e160bfa9b8b64f9d4c03f999b8643f656b412a3ac00000000',
      '00000000d1145790a8694403d4063f323d499e655c83426834d4ce2f8dd4a2ee',
    );
    expect(block.transactions[1]).toMatchObject({
      id: 'f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16',
      inputs: ['0437cd7f8525ceed2324359c2d0ba26006d92d856a9c20fa0241106ee5a597c9:0'],
      outputs: [{ value: 1_000_000_000n }, { value: 4_000_000_000n }],
    });
  });
});
