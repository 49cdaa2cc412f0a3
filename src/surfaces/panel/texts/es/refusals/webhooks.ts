import { wordDisabling } from '#errors/refusals/disablings.ts';
import type { WEBHOOKS } from '#errors/refusals/webhooks.ts';
import type { Translation } from '#errors/refusals/wording.ts';
import { counted } from '../formats.ts';
import { disablings } from './disablings.ts';

export const webhooks: Translation<typeof WEBHOOKS> = {
  'url-unreadable': url('no es una URL, como https://tienda.example.com/webhooks'),
  'url-not-https': url('tiene que empezar por https://'),
  'url-with-user': url('no puede contener un usuario'),
  'url-with-fragment': url('un fragmento (#) nunca se envía'),
  'url-too-long': ({ maximum }) =>
    url(`tiene más de ${counted(maximum, 'carácter', 'caracteres')}`),
  'url-not-public': ({ host }) => url(`${host} no es una dirección pública`),

  'endpoint-unknown': ({ endpointId }) => `No existe el endpoint de webhook ${endpointId}.`,
  'endpoint-already-enabled': ({ endpointId }) =>
    `El endpoint de webhook ${endpointId} ya está activo.`,
  'endpoint-disabled': ({ endpointId, reason }) =>
    `El endpoint de webhook ${endpointId} está desactivado: ${wordDisabling(disablings, reason)} Actívelo primero.`,
  'endpoint-url-in-use': ({ endpointId }) =>
    `El endpoint de webhook ${endpointId} del comercio ya tiene esta URL.`,
  'types-exclude-all': 'Elija todos los eventos de un pago (all), o bien algunos de sus tipos.',
  'too-many-endpoints': ({ maximum }) =>
    `Un comercio puede tener como máximo ${counted(maximum, 'endpoint', 'endpoints')} de webhook.`,
  'delivery-unknown': ({ deliveryId }) => `No existe la entrega ${deliveryId}.`,
};

function url(reason: string): string {
  return `La URL no se acepta: ${reason}.`;
}
