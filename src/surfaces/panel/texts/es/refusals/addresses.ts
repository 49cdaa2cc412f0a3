import type { ADDRESSES } from '#errors/refusals/addresses.ts';
import { type Translation, wordRefusal } from '#errors/refusals/wording.ts';
import { counted, minuteOf } from '../formats.ts';
import { addressProblems } from './address-problems.ts';

export const addresses: Translation<typeof ADDRESSES> = {
  'network-unknown': ({ blockchainId }) => `No existe la red ${blockchainId}.`,
  'branch-unknown': ({ branchId }) => `No existe la sucursal ${branchId}.`,
  'branch-of-other': ({ branchId }) => `El comercio no tiene la sucursal ${branchId}.`,
  'main-branch-missing': 'El comercio no tiene sucursal principal.',
  'too-many-branches': ({ maximum }) =>
    `Un comercio puede tener como máximo ${counted(maximum, 'sucursal', 'sucursales')}.`,
  'branch-name-taken': ({ name }) => `El comercio ya tiene una sucursal con el nombre ${name}.`,
  'branch-already-main': 'Ya es la sucursal principal.',

  'address-invalid': ({ problem }) => refused(wordRefusal(addressProblems, problem)),
  'wallet-invalid': ({ problem }) =>
    `La cartera se rechaza: ${wordRefusal(addressProblems, problem)}.`,
  'wallet-only-bitcoin': ({ blockchainId }) =>
    `Solo Bitcoin tiene carteras con una dirección por pago, y ${blockchainId} no.`,
  'wallet-taken':
    'Otra cuenta de este servicio tiene esta cartera, o la ha tenido hasta hace poco: no se sabría de quién es un ingreso. Si es suya, pregunte a su operador.',
  'wallet-of-other-kind':
    'El comercio tiene esta cartera con direcciones de otro tipo. Quítela allí primero.',
  'wallet-already-set': 'La sucursal ya tiene esta cartera.',
  'wallet-alone':
    'La sucursal tiene una cartera en esta red, que no necesita más direcciones: ponga una dirección en su lugar, o quítela.',
  'address-of-contract': ({ blockchainId }) =>
    refused(`esto es el contrato de ${blockchainId}, y no una billetera`),
  'address-on-main-network': ({ blockchainId }) =>
    `Un comercio de prueba solo tiene direcciones en redes de prueba, y ${blockchainId} es una red principal.`,
  'address-taken':
    'Otra cuenta de este servicio tiene esta dirección, o la tenía hasta hace poco: no estaría claro de quién es un depósito. Si la dirección es suya, consulte al operador.',
  'address-already-set': 'La sucursal ya tiene esta dirección.',
  'too-many-addresses': ({ maximum }) =>
    `Una sucursal puede tener como máximo ${counted(maximum, 'dirección', 'direcciones')} en cada red.`,
  'addresses-missing': ({ blockchainId }) =>
    `La sucursal no tiene ninguna dirección en ${blockchainId}.`,
  'address-not-named': ({ count, blockchainId }) =>
    `La sucursal tiene ${counted(count, 'dirección', 'direcciones')} en ${blockchainId}: indique cuál se quita.`,
  'address-missing': ({ blockchainId }) =>
    `La sucursal no tiene esta dirección en ${blockchainId}.`,
  'address-not-shared': ({ merchantId }) => `El comercio ${merchantId} no tiene esta dirección.`,
  'address-not-held': 'El comercio no tiene esta dirección.',
  'address-in-force':
    'La dirección está en vigor para el comercio, o pendiente de estarlo: primero quítela, o cancele el cambio.',

  'addresses-changed':
    'Las direcciones cambiaron mientras este formulario estaba abierto. Revíselas e inténtelo de nuevo.',
  'change-already-waits': 'Ya hay otro cambio de esto pendiente: cancélelo primero.',
  'change-ended': 'Este cambio ya no está pendiente.',
  'change-is-own': 'La propuesta de este cambio es suya: se necesita otro admin.',
  'one-admin-enough': 'Ya basta con un solo admin.',
  'other-admin-missing': 'Nadie más inicia sesión como admin: invite primero a otro.',
  'recovered-lately': ({ freeAt }) =>
    `Un enlace le dio una nueva contraseña o aplicación de autenticación: puede hacer esto a partir del ${minuteOf(freeAt)}.`,
  'admin-too-new': ({ freeAt }) =>
    `Aún no lleva bastante tiempo como admin con su contraseña y sus códigos actuales: puede hacer esto a partir del ${minuteOf(freeAt)}.`,
};

function refused(reason: string): string {
  return `La dirección no se acepta: ${reason}.`;
}
