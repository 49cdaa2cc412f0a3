import { html } from '../../../pages/html.ts';
import type { PanelTexts } from '../panel-texts.ts';
import { counted } from './formats.ts';

export const payments: PanelTexts['payments'] = {
  title: 'Pagos',
  searchHint: 'ID, referencia, importe, dirección',
  none: 'Aún no hay pagos.',
  first: quickstart =>
    html`Aún no hay pagos. Cree uno con su clave de API: la <a href="${quickstart}">guía de inicio rápido</a> muestra cómo.`,
  noMatch: 'Ningún pago coincide.',
  noneSearched: searched => `Ninguno entre los ${searched} pagos en los que se buscó.`,
  short: minimum =>
    `Una parte de una referencia necesita al menos ${minimum} caracteres. Con menos solo se encuentra una referencia completa, o un importe.`,

  filters: {
    more: 'Más filtros',
    minimum: 'Importe desde',
    maximum: 'Importe hasta',
    amountHint: 'Dólares, como 10.00',
    noAmount: 'Indique un importe en dólares, como 10.00.',
    amountsReversed: (from, to) => `Importe desde, ${from}, es mayor que Importe hasta, ${to}.`,
  },

  statuses: {
    pending: 'pendiente',
    successful: 'completado',
    unsuccessful: 'no completado',
    expired: 'vencido',
    cancelled: 'cancelado',
  },
  confirming: 'en confirmación',

  deviations: {
    under: 'pagado de menos',
    over: 'pagado de más',
    duplicate: 'llegó más tras el pago',
    late: 'llegó tarde',
  },

  facts: {
    amount: 'Importe',
    status: 'Estado',
    created: 'Creado',
    expires: 'Vence',
    expired: 'Plazo para pagar hasta',
    paid: 'Pagado',
    received: 'Recibido',
    reference: 'Referencia',
    note: 'Nota',
    tokenAmount: 'Cantidad en la cadena',
    network: 'Red',
    address: 'Dirección',
    transaction: 'Transacción',
    processor: 'Procesador',
    processorReference: 'Referencia del procesador',
    commission: 'Comisión',
    redirect: 'Lleva de vuelta a',
    lastError: 'Último error',
    cancellation: 'Motivo de la cancelación',
  },

  copied: { id: 'ID' },

  accounting: {
    title: 'Para la contabilidad',
    lead: 'Pagos, comisión y depósitos resueltos de un mes terminado, en UTC, con una fila por movimiento.',
    columns: 'Qué significan las columnas',
    month: 'Mes',
    csv: 'Descargar CSV',
    jsonl: 'Descargar líneas JSON firmadas',
  },

  simulation: {
    title: 'Simular',
    case: 'Qué hacen un cliente y la cadena',
    cases: {
      confirm: 'llega el importe exacto y pasa a ser definitivo',
      detect: 'se ve el importe exacto, aún no definitivo',
      under: 'llega demasiado poco',
      rest: 'llega demasiado poco y luego el resto exacto',
      over: 'llega algo de más y pasa a ser definitivo, salvo que haya otros pagos abiertos en la dirección',
      late: 'llega el importe exacto cuando el pago ya ha terminado',
      duplicate: 'llega el importe exacto dos veces',
      revert: 'la transacción falla en la cadena',
      reorg: 'se ve el importe exacto y luego la cadena lo deshace',
      fail: 'la transacción falla en la cadena después de haberse visto',
      cancel: 'el cliente cancela',
      expire: 'se acaba el tiempo sin ningún pago, o tras llegar demasiado poco',
    },
    conflicts: {
      E1040: 'El pago ha terminado entretanto, o su red ya no se ofrece para él.',
      E5002:
        'La red del pago no tiene precio o ningún importe libre en este momento. Inténtelo de nuevo dentro de un minuto.',
    },
    submit: 'Simular',
    notAllowed: name => `No hay ningún caso ${name} para este pago tal como está ahora.`,
    done: name => `Simulado: ${name}.`,
    waits: reason =>
      `El pago sigue pendiente. Una transferencia quedó entre los depósitos sin asignar: ${reason}.`,
  },

  timeline: {
    title: 'Qué ha ocurrido',
    evidence: 'Descargar evidencia firmada',
    created: (amount, creator) => html`Creado por ${creator} con un importe de ${amount}`,
    deposit: (amount, outcome, state, hash) =>
      html`Recibido ${amount}: ${outcome}, ${state}. ${hash}`,
    outcomes: {
      exact: 'la cantidad exacta',
      over: 'más de lo solicitado',
      tolerated: 'un poco menos de lo solicitado, lo que se acepta',
      under: 'insuficiente',
      rest: 'el resto',
      assigned: 'asignado a mano',
    },
    states: {
      seen: 'detectado en la cadena',
      final: 'definitivo',
      reversed: 'anulado por la cadena',
      failed: 'fallido en la cadena',
    },
    transition: (status, reason) => `Ahora ${status}: ${reason}`,
    event: type => html`Evento ${type}`,
    delivery: (type, endpoint, status, attempts) =>
      html`Entrega de ${type} a ${endpoint}: ${status}, ${counted(attempts, 'intento', 'intentos')}`,
    deliveryStatuses: {
      pending: 'pendiente',
      succeeded: 'completada',
      failed: 'fallida',
      cancelled: 'cancelada',
      withheld: 'retenida tras una restauración',
    },
    attempt: (number, endpoint, result, milliseconds) =>
      `Intento ${number} en ${endpoint}: ${result} en ${milliseconds} ms`,
    httpStatus: status => `HTTP ${status}`,
    formerEndpoint: 'un endpoint anterior',
  },

  // In the masculine of `depósito`, as the states of the timeline, which are shown beside them.
  transfers: {
    title: 'Lo que ha llegado',
    earlier: count =>
      `${counted(count, 'transferencia anterior', 'transferencias anteriores')} sin listar.`,
    arrived: (amount, network, at) => html`${amount} en ${network}, ${at}`,
    excess: amount => `En total, ${amount} más de lo solicitado.`,
    countedFor: {
      whole: 'La cantidad exacta: salda el pago.',
      tolerated: 'Un poco menos de lo solicitado, lo que se acepta: salda el pago.',
      over: 'Más de lo solicitado: salda el pago.',
      assigned: 'Asignado al pago a mano.',
      first: 'Insuficiente: la primera parte. Se le pide el resto al cliente.',
      completed: 'Insuficiente: la primera parte, que el resto ha completado.',
      rest: 'El resto: completa el pago.',
      elsewhere: 'Una parte, que cuenta si el cliente vuelve a elegir su red.',
      too_little: 'Insuficiente, y no se ha completado.',
      late: 'Llegó demasiado tarde: no cuenta.',
      former: 'Para una cotización anterior, cuyo precio ya no estaba garantizado: no cuenta.',
      again: 'Llegó cuando ya estaba pagado: no cuenta.',
      unclear: 'No está claro para qué es: no cuenta.',
      undone: 'Así no llegó nada: no cuenta.',
      failed: 'Así no llegó nada.',
    },
    givenBack: (to, hash, at) => html`Devuelto a ${to} con ${hash}, registrado el ${at}.`,
    assignedOwn: payment => html`Asignado a <a href="${payment}">otro pago</a>.`,
    assigned: 'Asignado a otro pago.',
    waits: 'Pendiente de resolver',
    waitsForOperator: 'Pendiente de que lo resuelva el operador.',
    returned: (to, hash) => html`Devuelto a ${to} con ${hash}.`,
    kept: 'Conservado.',
    other: 'Resuelto por otra vía.',
  },

  parts: {
    title: 'Devolver lo que llegó en parte',
    part: 'Qué se devolvió',
    choice: (amount, hash) => `${amount}, ${hash}`,
    to: { label: 'A quién', hint: 'Una dirección, o un nombre.' },
    hash: { label: 'Transacción', hint: 'Su hash.' },
    note: {
      label: 'Nota',
      hint: 'Para sus propios registros y el registro de auditoría, por ejemplo: ticket 7.',
    },
    consequence: 'Desde ahora consta en su contabilidad. Eso no se puede cambiar.',
    submit: 'Registrar la devolución',
    question: amount => `¿Se devolvió ${amount}?`,
    given: (amount, to, hash) => html`${amount} a ${to}, con ${hash}.`,
    recorded: (amount, to) => `Registrado: se devolvió ${amount} a ${to}.`,
  },
};
