import type { PanelTexts } from '../panel-texts.ts';
import { shell } from './shell.ts';

export const setupFindings: PanelTexts['setupFindings'] = {
  'account-ready': 'Está activa y tiene sucursal principal.',
  'account-inactive': 'La cuenta está inactiva: sus claves se rechazan con E2008.',
  'account-not-approved': ({ status }) =>
    `El proceso de alta está ${shell.onboardingStatuses[status]}: sus claves se rechazan con E2102.`,
  'main-branch-missing': 'No hay sucursal principal: crear un pago falla con E1030.',

  'processor-ready': 'El procesador cobra los pagos de cuentas de EE. UU.',
  'processor-missing':
    'No hay ningún procesador configurado: crear un pago de una cuenta de EE. UU. falla con E1030.',
  'processor-sandbox': 'El sandbox cobra los pagos de un comercio de prueba con cuenta de EE. UU.',

  'networks-offered': ({ networks }) => `Redes que se ofrecen: ${networks}.`,
  'networks-off': ({ networks }) =>
    `Hay nodos que observan ${networks}, pero ningún operador ha activado una red: crear un pago falla con E1020.`,
  'node-missing':
    'Ningún nodo observa una cadena, por lo que no se ofrece ninguna red: crear un pago falla con E1020.',

  'addresses-set': ({ networks }) => `La sucursal principal tiene direcciones en ${networks}.`,
  'addresses-of-wallet': ({ networks, wallets }) =>
    `La sucursal principal tiene direcciones en ${networks}. Cada pago recibe una propia de una billetera: ${wallets}.`,
  'addresses-shared': ({ networks, shared }) =>
    `La sucursal principal tiene direcciones en ${networks}. Otro comercio también tiene ${shared}: lo que allí no se asigna a ningún pago solo lo ven los operadores.`,
  'addresses-missing':
    'La sucursal principal no tiene ninguna dirección: crear un pago falla con E1020.',
  'addresses-elsewhere': ({ networks }) =>
    `La sucursal principal solo tiene direcciones en ${networks}, que no se ofrecen a ningún cliente: crear un pago falla con E1020.`,

  'networks-watched': ({ networks }) => `Se observan a tiempo: ${networks}.`,
  'networks-simulated': ({ networks }) =>
    `No hay que observar nada: los pagos en ${networks} se simulan.`,
  'chain-halted': ({ chain, reason }) => `La cadena ${chain} está detenida: ${reason}`,
  'worker-missing': ({ networks }) =>
    `Ningún worker observa ${networks} a tiempo: los clientes no pueden elegir una red. ¿Hay alguno en marcha?`,

  'domain-ready': 'Se puede llevar de vuelta a los clientes a sus dominios.',
  'domain-missing': 'No hay ningún dominio: crear un pago con una redirectUrl falla con E1010.',

  'key-of-partner': 'Su socio tiene una clave que crea pagos para la cuenta.',
  'key-switched-off':
    'Su socio ha desactivado las claves de sus comercios (E2103), y no tiene ninguna propia.',
  'key-ready': 'Hay una clave que puede crear pagos.',
  'key-missing':
    'Ninguna clave puede crear pagos: un servidor no tiene con qué firmar sus solicitudes.',

  'webhook-ready': 'Un endpoint recibe los eventos.',
  'webhook-missing':
    'No hay ningún endpoint de webhook: un servidor solo conoce los resultados si consulta cada pago.',

  'person-ready': 'Hay alguien que inicia sesión en el panel.',
  'person-missing':
    'Nadie inicia sesión en el panel: los depósitos sin asignar solo los ven los operadores.',
  'panel-missing': 'No hay panel: los depósitos sin asignar solo los ven los operadores.',

  'loss-unnoticed':
    'Una réplica asíncrona sigue a la base de datos: si pasa a ser la principal, los pagos más recientes se pierden sin que nada lo indique.',
};
