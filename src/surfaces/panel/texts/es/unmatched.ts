import { html } from '../../../pages/html.ts';
import type { PanelTexts } from '../panel-texts.ts';
import { counted, formats } from './formats.ts';

export const unmatched: PanelTexts['unmatched'] = {
  title: 'Depósitos sin asignar',
  lead: 'Lo que llegó a sus direcciones y no se asignó a ningún pago. Primero, lo de más valor.',
  none: 'No hay nada pendiente.',
  noMatch: 'Ningún depósito coincide.',
  shared: (addresses, others) =>
    html`El operador comparte direcciones suyas con otra cuenta: ${addresses}${others > 0 && ` y ${formats.number(others)} más`}. Lo que allí no se asigna a ningún pago no figura aquí.`,
  hidden: (deposits, isMaximum, command) =>
    html`No se ${deposits === 1 ? 'muestra' : 'muestran'} ${isMaximum ? 'al menos ' : ''}${counted(deposits, 'depósito', 'depósitos')} más: otra cuenta tenía la misma dirección cuando ${deposits === 1 ? 'llegó' : 'llegaron'}, así que desde aquí no se puede saber de quién es el dinero. Solo el operador ve esos depósitos, con ${command}.`,

  reasons: {
    ambiguous: {
      short: 'ambiguo',
      text: 'varios pagos esperan en la dirección, y ni la cantidad ni la hora indican para cuál es',
    },
    duplicate: { short: 'duplicado', text: 'su pago ya tiene sus fondos' },
    late: { short: 'demasiado tarde', text: 'su pago ya había terminado' },
    over: { short: 'muy por encima', text: 'es mucho más de lo que pide su pago' },
    superseded: {
      short: 'cotización anterior',
      text: 'su pago pedía esta cantidad antes de recibir otra cotización, y el precio ya no estaba garantizado',
    },
    under: {
      short: 'insuficiente',
      text: 'no es ni la cantidad completa ni el resto que espera su pago',
    },
    unknown: { short: 'cantidad desconocida', text: 'ningún pago pedía esta cantidad' },
  },
  facts: {
    amount: 'Cantidad',
    value: 'Valor',
    worth: 'Valor',
    reason: 'Motivo',
    arrived: 'Llegada',
    state: 'Estado',
    network: 'Red',
    address: 'Dirección',
    transaction: 'Transacción',
  },
  final: 'definitivo',
  confirming: 'en confirmación',
  confirmingExplained: 'en confirmación: aún puede anularse',
  unknownValue: '–',
  worth: (value, pricedAt) => html`${value}, al precio del ${pricedAt}`,

  filters: { worth: 'Valor máximo', worthHint: 'Dólares, como 1.00' },

  meant: {
    title: 'El pago al que iba destinado',
    payment: (payment, status, since, consequence) =>
      html`${payment}: ${status}${since !== null && html` desde el ${since}`}. ${consequence}`,
    consequences: {
      paid: 'Está pagado: esta transferencia está de más.',
      open: 'Sigue abierto, pero con otra cotización.',
      ended: 'Así se queda. Resuélvalo con ese cliente y descarte el depósito.',
    },
  },

  fits: {
    title: 'Pagos que esperan en su dirección',
    none: 'Ninguno. Resuélvalo con el cliente y descártelo.',
    best: 'el más adecuado',
    amounts: (due, arrived) => `por pagar ${due}, recibido ${arrived}`,
    submit: 'Asignar',
  },

  assignment: {
    title: order => `¿Asignar este depósito a ${order}?`,
    due: 'Por pagar',
    arrived: 'Recibido',
    difference: 'Diferencia',
    differences: {
      none: 'ninguna',
      less: amount => `${amount} menos de lo que falta por pagar`,
      more: amount => `${amount} más de lo que falta por pagar`,
    },
    price: 'Precio',
    consequence: {
      final: html`El pago queda <strong>completado</strong> de inmediato. Es definitivo: no se puede deshacer.`,
      confirming: html`El pago queda <strong>completado</strong> cuando el depósito sea definitivo. Entonces ya no se puede deshacer.`,
    },
    otherOrder: (payment, status) =>
      html`El dinero iba destinado a ${payment}, que está ${status}. Asegúrese de que no es el dinero de ese cliente.`,
    submit: 'Asignar',
    done: order => `Asignado a ${order}.`,
    look: 'Ver el pago',
  },

  consent: {
    ask: 'Pedirlo a un segundo admin',
    arrived: 'Lo que llegó',
    due: 'Lo que falta por pagar',
    amountHint: 'Escriba la cantidad, sin su moneda.',
    submit: 'Completar el pago con esta cantidad',
    asked: 'Pedido. Otro admin tiene que confirmarlo, en esta página.',
  },
  asked: {
    title: 'Pendiente de un segundo admin',
    own: payment =>
      html`Pidió asignarlo a ${payment}, aunque es insuficiente o excesivo. Otro admin tiene que confirmarlo.`,
    other: (name, payment) =>
      html`${name} pidió asignarlo a ${payment}, aunque es insuficiente o excesivo. Eso completa el pago y no se puede deshacer.`,
  },

  dismissal: {
    title: '¿Resuelto con el cliente?',
    several: 'Descartar los marcados',
    tick: 'Descartar este',
    submit: 'Descartar',
    question: deposits => `¿Descartar ${counted(deposits, 'depósito', 'depósitos')}?`,
    amounts: 'Cantidades',
    worth: (sum, unknown) =>
      unknown === 0
        ? sum
        : `${sum}, y ${counted(unknown, 'depósito', 'depósitos')} de valor desconocido`,
    worthUnknown: 'desconocido',
    remedy: 'Qué se hizo',
    consequence: deposits =>
      `${deposits === 1 ? 'Deja' : 'Dejan'} de figurar entre los depósitos sin asignar. Eso no se puede deshacer.`,
    done: (deposits, worth) =>
      `Descartado: ${counted(deposits, 'depósito', 'depósitos')}, por un valor de ${worth}.`,
    faults: {
      noneTicked: 'Marque primero los depósitos.',
      someGone: 'Algunos ya no están pendientes. No se ha cambiado nada.',
      refused: reason => `${reason} No se ha cambiado nada.`,
    },
  },

  settled: {
    lead: 'Ya no está pendiente.',
    title: 'Qué fue de él',
    taken: payment => html`Es de ${payment}.`,
    takenElsewhere: 'Es de un pago de otra cuenta.',
  },

  remedy: {
    question: '¿Qué se hizo con el dinero?',
    choices: { returned: 'Se devolvió', kept: 'Se conservó', other: 'Otra cosa' },
    to: { label: 'Si se devolvió, a quién', hint: 'Una dirección, o un nombre.' },
    hash: {
      label: 'Si se devolvió, la transacción',
      hint: 'Su hash; quien pagó también puede verlo.',
    },
    note: {
      label: 'Nota',
      hint: 'Para sus propios registros y el registro de auditoría, por ejemplo: ticket 7.',
    },
    faults: {
      choice: 'Indique qué se hizo con el dinero.',
      to: 'Indique a quién se devolvió.',
      hash: 'Indique el hash de la transacción con la que se devolvió.',
      note: maximum => `Escríbalo en ${maximum} caracteres como máximo, en una sola línea.`,
      noteNeeded: 'Indique cómo se resolvió con el cliente.',
    },
  },
};
