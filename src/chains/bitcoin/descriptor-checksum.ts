/** Characters of a descriptor, in the groups that its checksum counts in (BIP-380). */
const INPUT =
  '0123456789()[],\'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#"\\ ';
/** Characters of the checksum, those of bech32. */
const OUTPUT = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
/** The generator polynomial over GF(32), for each bit of the highest term. */
const GENERATOR = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn];
const CHECKSUM_LENGTH = 8;

/** Whether the checksum after the `#` of a descriptor is right (BIP-380). */
export function hasDescriptorChecksum(text: string): boolean {
  const end = text.lastIndexOf('#');
  return end >= 0 && descriptorChecksum(text.slice(0, end)) === text.slice(end + 1);
}

/** The checksum of a descriptor; undefined if it has a character that none has (BIP-380). */
export function descriptorChecksum(descriptor: string): string | undefined {
  const places = [...descriptor].map(character => INPUT.indexOf(character));
  if (places.includes(-1)) return undefined;
  const groups = places.map(place => place >> 5);
  const symbols = places.flatMap((place, at) => {
    const own = [place & 31];
    const [first = 0, second = 0, third = 0] = groups.slice(at - 2, at + 1);
    if (at % 3 === 2) own.push(first * 9 + second * 3 + third);
    return own;
  });
  const rest = groups.slice(groups.length - (groups.length % 3));
  if (rest.length > 0) symbols.push(rest.reduce((sum, group) => sum * 3 + group, 0));
  const sum = [...symbols, ...new Array<number>(CHECKSUM_LENGTH).fill(0)].reduce(polymod, 1n) ^ 1n;
  return Array.from(
    { length: CHECKSUM_LENGTH },
    (_, at) => OUTPUT[Number((sum >> BigInt(5 * (CHECKSUM_LENGTH - 1 - at))) & 31n)],
  ).join('');
}

function polymod(sum: bigint, symbol: number): bigint {
  const top = sum >> 35n;
  const shifted = ((sum & 0x7ffffffffn) << 5n) ^ BigInt(symbol);
  return GENERATOR.reduce(
    (next, term, bit) => (((top >> BigInt(bit)) & 1n) === 1n ? next ^ term : next),
    shifted,
  );
}
