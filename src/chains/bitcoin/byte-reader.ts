/** Bytes that are no block or transaction: truncated, too long, or against the rules of the format. */
export class MalformedBytes extends Error {
  override name = 'MalformedBytes';
}

/** Reads little-endian values one after the other. Never reads past the end. */
export class ByteReader {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get position(): number {
    return this.#position;
  }

  get left(): number {
    return this.bytes.length - this.#position;
  }

  /** A view of the next bytes, not a copy. */
  take(length: number): Uint8Array {
    const from = this.#advance(length);
    return this.bytes.subarray(from, from + length);
  }

  peek(offset = 0): number | undefined {
    return this.bytes[this.#position + offset];
  }

  uint32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  uint64(): bigint {
    return this.#view.getBigUint64(this.#advance(8), true);
  }

  /**
   * A length or a number of items (CompactSize: Bitcoin Core, src/serialize.h), in its shortest form.
   * @param itemBytes Minimum length of an item: more items than the remaining bytes can hold are refused before
   * anything is allocated for them.
   */
  count(itemBytes: number): number {
    const count = this.#compactSize();
    if (count > this.left / itemBytes) {
      throw new MalformedBytes(`${count} items do not fit into ${this.left} bytes`);
    }
    return count;
  }

  /** Refuses bytes after the end. */
  end(): void {
    if (this.left > 0) throw new MalformedBytes(`there are ${this.left} bytes too many`);
  }

  #compactSize(): number {
    const first = this.take(1)[0] ?? 0;
    if (first < 0xfd) return first;
    if (first === 0xfd) return atLeast(0xfd, this.#view.getUint16(this.#advance(2), true));
    if (first === 0xfe) return atLeast(0x1_0000, this.uint32());
    // Nothing in a block can be that long.
    throw new MalformedBytes('a length takes eight bytes');
  }

  #advance(length: number): number {
    const from = this.#position;
    if (length > this.left) {
      throw new MalformedBytes(`${length} bytes are missing at ${from}: there are ${this.left}`);
    }
    this.#position = from + length;
    return from;
  }
}

function atLeast(minimum: number, value: number): number {
  if (value < minimum) throw new MalformedBytes('a length is not in its shortest form');
  return value;
}

/** @throws MalformedBytes unless the text is an even number of hex digits, for at most `maximumBytes`. */
export function decodeHex(text: string, maximumBytes: number): Uint8Array {
  if (text.length > maximumBytes * 2) {
    throw new MalformedBytes(`there are more than ${maximumBytes} bytes`);
  }
  // Buffer.from stops at the first character that is no hex digit.
  const bytes = Buffer.from(text, 'hex');
  if (bytes.length * 2 !== text.length) throw new MalformedBytes('the text is not hex');
  return bytes;
}
