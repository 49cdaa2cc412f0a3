import type { ACCOUNTS } from '#errors/refusals/accounts.ts';
import type { Translation } from '#errors/refusals/wording.ts';
import { counted, formats } from '../formats.ts';

export const accounts: Translation<typeof ACCOUNTS> = {
  'nothing-to-change': 'No hay nada que cambiar: no se indica ningún ajuste.',

  'merchant-unknown': ({ merchantId }) => `No existe el comercio ${merchantId}.`,
  'partner-unknown': ({ partnerId }) => `No existe el socio ${partnerId}.`,
  'user-unknown': ({ userId }) => `No existe el usuario ${userId}.`,
  'partner-member-unknown': ({ memberId }) =>
    `No existe la persona ${memberId} en el equipo de ningún socio.`,
  'account-inactive': 'La cuenta está inactiva.',
  'merchant-already-test': 'Este ya es un comercio de prueba.',

  'domain-with-scheme': domain('indique solo el nombre de host, sin https://'),
  'domain-with-wildcard': domain(
    'no se admiten comodines; agregue cada nombre de host por separado',
  ),
  'domain-with-path': domain('indique solo el nombre de host, sin ruta, puerto ni usuario'),
  'domain-unreadable': domain('no es un nombre de host'),
  'domain-not-qualified': domain('no es un nombre completo, como tienda.example.com'),
  'domain-numeric': domain('una dirección IP no es un dominio'),
  'domain-invalid': domain('no es un nombre de host válido'),
  'top-level-invalid': ({ topLevel }) => domain(`«${topLevel}» no es un dominio de primer nivel`),
  'too-many-domains': ({ maximum }) =>
    `Un comercio puede tener como máximo ${counted(maximum, 'dominio', 'dominios')} a los que llevar de vuelta a los clientes.`,
  'domain-missing': ({ name }) => `El comercio no tiene el dominio ${name}.`,

  // These continue a sentence that begins with the image.
  'image-too-many-bytes': ({ bytes, maximum }) =>
    `tiene ${formats.number(bytes)} bytes, y se aceptan ${formats.number(maximum)} como máximo`,
  'image-type-unknown': 'no es PNG ni WebP',
  'image-too-many-pixels': ({ width, height, maximum }) =>
    `tiene ${width} × ${height} píxeles, y se aceptan ${maximum} × ${maximum} como máximo`,
  'image-damaged': 'está dañada o incompleta',

  'legacy-key-needs-admin': ({ status, role }) =>
    `El usuario está ${status === 'active' ? 'activo' : 'inactivo'} y su rol es ${role === 'admin' ? 'admin' : 'miembro'}; solo un admin activo puede tener una clave.`,
  'key-unknown': ({ keyId }) => `No existe la clave ${keyId}.`,
  'key-revoked': ({ keyId }) => `La clave ${keyId} está revocada.`,
  'key-already-revoked': ({ keyId }) => `La clave ${keyId} ya está revocada.`,
  'key-expired': ({ keyId }) => `La clave ${keyId} ha vencido; cree otra.`,
  'key-expiry-passed': 'La fecha de vencimiento ya ha pasado.',
  'key-scope-unknown': ({ scope, known }) =>
    `No existe el permiso «${scope}»; la clave puede tener ${known.join(', ')}.`,
  'too-many-keys': ({ maximum }) =>
    `El comercio tiene ${counted(maximum, 'clave activa', 'claves activas')}, el máximo permitido; revoque una primero.`,
};

function domain(reason: string): string {
  return `El dominio no se acepta: ${reason}.`;
}
