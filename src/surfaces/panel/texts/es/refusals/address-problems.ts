import type { ADDRESS_PROBLEMS } from '#errors/refusals/address-problems.ts';
import type { Translation } from '#errors/refusals/wording.ts';

/** What is wrong with an address: texts that complete a sentence. */
export const addressProblems: Translation<typeof ADDRESS_PROBLEMS> = {
  'text-too-long': 'el texto es demasiado largo para ser una dirección',
  'address-empty': 'la dirección está vacía',
  'space-around': 'hay espacios antes o después de la dirección',
  'space-inside': 'hay espacios dentro de la dirección',
  'payment-link': 'esto es un enlace de pago: indique solo la dirección',
  'look-alike': ({ position, codePoint }) =>
    `el carácter ${position} no es una letra ni un dígito corriente (${codePoint}): puede que solo lo parezca`,
  'private-key':
    'esto es una clave privada, que este servicio nunca debe tener. No se ha guardado. Quien la haya visto puede llevarse el dinero: páselo a una cartera nueva',
  'seed-words':
    'estas son las palabras de una cartera, que este servicio nunca debe tener. No se han guardado. Quien las haya visto puede llevarse el dinero: páselo a una cartera nueva',
  'foreign-character': ({ position, character }) =>
    `el carácter ${position} es «${character}», que una dirección así nunca contiene`,
  'length-wrong': 'la longitud no es correcta: faltan caracteres o hay demasiados',
  'checksum-wrong': 'la suma de control no coincide',
  'checksum-mistyped': 'la suma de control no coincide: hay un carácter mal escrito',
  'other-coin': 'esta dirección es de otra moneda',
  'burn-address': 'esta es una dirección de quema: nadie puede gastar lo que recibe',

  'wrapped-coin-contract': ({ coin }) => notWallet(`el contrato de ${coin} envuelto`),
  'known-burn-address': notWallet('una dirección de quema'),

  'bitcoin-start-wrong': 'una dirección de Bitcoin empieza por 1, 3 o bc1',
  'bitcoin-test-start-wrong': 'una dirección de la testnet de Bitcoin empieza por m, n, 2 o tb1',
  'bitcoin-on-testnet':
    'esta es una dirección de testnet: una dirección de mainnet empieza por 1, 3 o bc1',
  'bitcoin-on-mainnet':
    'esta es una dirección de mainnet: una dirección de testnet empieza por m, n, 2 o tb1',
  'segwit-on-other-network': ({ network, prefix }) =>
    `esta es una dirección de ${network}: una de esta red empieza por ${prefix}1`,
  'segwit-case-mixed':
    'hay mayúsculas y minúsculas mezcladas: una dirección bc1 o tb1 solo tiene unas u otras',
  'segwit-checksum-wrong':
    'la suma de control no coincide: hay un carácter mal escrito, o falta alguno',
  'segwit-checksum-of-other-version': ({ version, checksum, expected }) =>
    `la suma de control es ${checksum}, pero la versión de testigo ${version} requiere ${expected}: la billetera que escribió la dirección es defectuosa o antigua`,
  'segwit-empty': 'la dirección no tiene contenido',
  'segwit-version-unknown': ({ version }) => `la versión de testigo ${version} no existe`,
  'segwit-version-unused': ({ version }) =>
    `la versión de testigo ${version} aún no está en uso: cualquiera podría gastar lo que recibe`,
  'segwit-bits-stray': 'la dirección termina en bits sobrantes: no la escribió una billetera',
  'segwit-length-wrong': ({ version, bytes }) =>
    `la longitud no es correcta: la versión de testigo ${version} con ${bytes} bytes no es una dirección de billetera`,
  'taproot-key-invalid':
    'nadie puede gastar lo que recibe esta dirección: su clave de taproot no es válida',

  'wallet-empty': 'la clave está vacía',
  'wallet-key-unknown':
    'esto no es una clave pública extendida (xpub, ypub, zpub; tpub, upub, vpub en una red de pruebas) ni un descriptor',
  'wallet-multisig':
    'es la clave de una cartera en la que firman varias personas, cuyas direcciones no salen de una sola clave',
  'wallet-depth': ({ depth }) =>
    `está a la profundidad ${depth} de su cartera, donde no hay cuentas: indique la clave de la cuenta`,
  'wallet-hardened':
    'la ruta bajo la clave es reforzada: las direcciones de ahí no se derivan de una clave pública',
  'wallet-path-fixed':
    'la ruta bajo la clave lleva a una sola dirección: tiene que acabar en /*, por ejemplo /0/*',
  'wallet-change-path':
    'la ruta lleva a las direcciones de cambio: indique la de recepción, normalmente /0/*',
  'wallet-descriptor-unknown':
    'el descriptor no es pkh, sh(wpkh), wpkh ni tr con una clave pública extendida',
  'wallet-descriptor-checksum': 'la suma de control del descriptor, tras #, no coincide',
  'wallet-on-testnet':
    'esta es una clave de una red de pruebas: una de la red principal empieza por xpub, ypub o zpub',
  'wallet-on-mainnet':
    'esta es una clave de la red principal: una de una red de pruebas empieza por tpub, upub o vpub',
  'wallet-address-kind':
    'la dirección es de un tipo que no tiene ninguna cartera de una sola clave',
  'wallet-address-of-change':
    'la dirección es de cambio: indique la siguiente dirección de recepción sin usar',
  'wallet-address-not-found': ({ searched, addresses }) =>
    `la dirección no está entre las primeras ${searched} direcciones de recepción de la clave. Estas empiezan por ${addresses}. La dirección es de otra cuenta o de otra cartera, o la clave es otra`,

  'evm-start-wrong': ({ network }) => `una dirección de ${network} empieza por 0x`,
  'evm-start-missing': 'falta el 0x del principio',
  'evm-start-capital': 'el 0x del principio tiene que llevar una x minúscula',
  'evm-digit-wrong': ({ position, character }) =>
    `el carácter ${position} es «${character}»: después de 0x solo puede haber de 0 a 9 y de a a f`,
  'evm-length-wrong': ({ length }) =>
    `después de 0x tiene que haber 40 caracteres, y hay ${length}`,
  'evm-checksum-wrong':
    'la suma de control (qué letras son mayúsculas) no coincide: hay un carácter mal escrito',
  'evm-hash-or-key': 'esto es un hash de transacción o una clave privada, y no una dirección',
  'evm-zero-address': 'esta es la dirección cero: nadie puede gastar lo que recibe',
  'evm-reserved-address':
    'esta es una dirección reservada o de quema: nadie puede gastar lo que recibe',
  'avalanche-other-chain':
    'esta es una dirección de la X-Chain o la P-Chain de Avalanche: se necesita una de la C-Chain, que empieza por 0x',
  'bnb-beacon-chain':
    'esta es una dirección de BNB Beacon Chain: se necesita una de BNB Smart Chain, que empieza por 0x',
  'evm-token-contract': ({ token, network }) => notWallet(`el contrato de ${token} en ${network}`),
  'ethereum-deposit-contract': notWallet('el contrato de depósito de Ethereum'),
  'native-coin-placeholder': notWallet('el marcador que representa la moneda nativa'),

  'solana-key-or-signature':
    'esto es una clave privada o la firma de una transacción, y no una dirección',
  'solana-off-curve':
    'esta no es la dirección de una billetera: es una cuenta de token, la cuenta de otro programa (como la de una multifirma), o está mal escrita',
  'solana-key-impossible':
    'ninguna billetera puede tener esta dirección: hay un carácter mal escrito',
  'solana-program': ({ program }) => notWallet(`el programa ${program}`),
  'solana-first-memo-program': notWallet('el primer programa Memo'),
  'solana-program-loader': notWallet('el cargador de programas'),
  'solana-system-variable': notWallet('una variable del sistema'),
  'solana-incinerator': notWallet('el incinerador, que quema tokens'),
  'solana-mint': ({ token }) => notWallet(`la cuenta de emisión de ${token}`),
  'solana-devnet-mint': ({ token }) => notWallet(`la cuenta de emisión de ${token} en devnet`),
  'solana-wrapped-mint': notWallet('la cuenta de emisión de SOL envuelto'),

  'tron-start-wrong': 'una dirección de Tron empieza por T',
  'tron-length-wrong': ({ length, expected }) =>
    `una dirección de Tron tiene ${expected} caracteres, y esta tiene ${length}`,
  'tron-hexadecimal':
    'esta es la forma hexadecimal de una dirección de Tron: indique la que empieza por T',
  'tron-reserved-address':
    'esta es la dirección cero o una reservada: nadie puede gastar lo que recibe',
  'tron-token-contract': ({ token }) => notWallet(`el contrato de ${token}`),
  'tron-blackhole': notWallet('la cuenta que quema monedas'),
};

function notWallet(what: string): string {
  return `esto es ${what}, y no una billetera`;
}
