import type { PAYMENTS } from '#errors/refusals/payments.ts';
import type { Translation } from '#errors/refusals/wording.ts';
import { counted } from '../formats.ts';
import { payments as paymentTexts } from '../payments.ts';

const SETTLE_ELSEWHERE =
  'Resuélvalo con el cliente y descarte el depósito con una nota de cómo se hizo.';
const PAY_FOR_REAL = 'Haga una transferencia real; en una red de prueba, sin valor.';

const { statuses, timeline } = paymentTexts;

export const payments: Translation<typeof PAYMENTS> = {
  'payment-unknown': ({ paymentId }) => `No existe el pago ${paymentId}.`,
  'payment-ended': ({ status }) =>
    `El pago ha terminado: está ${statuses[status]}, y así se queda. ${SETTLE_ELSEWHERE}`,
  'payment-funded': `El pago ya tiene fondos. ${SETTLE_ELSEWHERE}`,

  'deposit-unknown': ({ depositId }) => `No existe el depósito ${depositId}.`,
  'deposit-assigned': ({ paymentId }) => `El depósito ya es del pago ${paymentId}.`,
  'deposit-dismissed': 'El depósito está descartado.',
  'deposit-without-funds': ({ state }) =>
    `El depósito consta como ${timeline.states[state]}: no hay fondos.`,
  'deposit-at-other-address': 'El depósito llegó a otra dirección que la del pago.',
  'deposit-on-other-network': 'El pago es en otra red que el depósito.',
  'deposit-for-former-quote':
    'El depósito es para una cotización anterior del pago, y aún no es definitivo: asígnelo cuando lo sea.',
  'deposit-suffices': 'El depósito es suficiente: se puede asignar de inmediato.',
  'deposit-for-other-payment': ({ paymentId, status }) =>
    `El dinero iba destinado al pago ${paymentId}, que está ${statuses[status]}. Asegúrese de que no es el dinero de ese cliente.`,
  'amount-unasked': wrongAmount('Un segundo admin, o el operador, tiene que confirmarlo.'),
  'amount-asked-by-former-admin': wrongAmount(
    'Quien lo pidió ya no puede hacerlo: otro admin tiene que pedirlo de nuevo.',
  ),
  'amount-untyped': wrongAmount('Escriba las dos cantidades para confirmarlo.'),
  'amount-mistyped': wrongAmount('Las cantidades que se escribieron son otras.'),
  'too-many-dismissals': ({ maximum }) =>
    `Como máximo se descartan ${counted(maximum, 'depósito', 'depósitos')} a la vez.`,

  'return-of-unmatched':
    'El depósito está pendiente sin asignar: descártelo indicando que se devolvió.',
  'return-not-final': ({ state }) =>
    `El depósito consta como ${timeline.states[state]}: solo se puede devolver uno definitivo.`,
  'return-for-open-payment': ({ paymentId }) =>
    `El pago ${paymentId} sigue abierto, y el depósito cuenta para él.`,
  'return-for-paid-payment': ({ paymentId }) =>
    `El pago ${paymentId} se completó, y el depósito cuenta para él.`,
  'return-already-recorded': 'Ya consta que el depósito se devolvió.',

  'simulation-of-live-merchant': ({ paymentId }) =>
    `El pago ${paymentId} es de un comercio en producción, y esos nunca se simulan aquí: simule uno de un comercio de prueba.`,
  'simulation-without-network': 'El pago no ofrece ninguna red.',
  'simulation-on-chains': `Las cadenas de las redes del pago tienen nodos. ${PAY_FOR_REAL}`,
  'simulation-on-chain': ({ blockchainId, chain }) =>
    `Las transferencias en ${blockchainId} no se pueden simular, porque ${chain} tiene un nodo. ${PAY_FOR_REAL}`,
  'simulation-on-us-account':
    'El pago es de una cuenta de EE. UU.: páguelo en la página a la que lleva su checkoutUrl.',
  'simulation-of-other-processor': ({ processor }) =>
    `El pago lo procesa ${processor}: solo se simulan los del sandbox.`,
  'simulation-case-unknown': ({ name, known }) =>
    `Un pago de una cuenta de EE. UU. tiene ${known.join(', ')}; «${name}» solo se simula en la cadena.`,
  'clock-without-events': ({ status }) =>
    `El pago está ${statuses[status]}, y no hay nada pendiente de entregar: su reloj no tiene nada que adelantar.`,
  'clock-on-chain': ({ blockchainId, chain }) =>
    `El reloj de un pago en ${blockchainId} no se puede adelantar, porque ${chain} tiene un nodo: puede que haya una transferencia real en camino.`,
};

/** @returns The sentence of a wrong amount. Amounts are decimals of the asset. */
function wrongAmount(hint: string) {
  const texts = {
    tooLittle: 'Es insuficiente para saldar el pago.',
    tooMuch: 'Es demasiado para el pago.',
  };
  return (values: { arrived: string; due: string; difference: 'tooLittle' | 'tooMuch' }) =>
    `Recibido: ${values.arrived}; por pagar: ${values.due}. ${texts[values.difference]} ${hint}`;
}
