import type { PanelTexts } from '../panel-texts.ts';
import { counted } from './formats.ts';

export const changes: PanelTexts['changes'] = {
  kinds: {
    'address.set': 'Reemplazar la dirección de depósito',
    'address.add': 'Agregar una dirección de depósito',
    'wallet.set': 'Establecer una billetera con una dirección para cada pago',
    'branch.main': 'Hacer principal otra sucursal',
    'merchant.one-admin': 'Dejar de exigir un segundo admin',
  },
  outcomes: {
    applied: 'Ha entrado en vigor.',
    cancelled: 'Se canceló. No ha cambiado nada.',
    lapsed:
      'Caducó: lo que iba a reemplazar había cambiado entretanto, o quien lo propuso ya no era admin. No cambió nada.',
  },
  sides: {
    waits: { before: 'Ahora', after: 'A partir de entonces' },
    applied: { before: 'Antes', after: 'Desde entonces' },
    cancelled: { before: 'Cuando se propuso', after: 'Propuesto en su lugar' },
    lapsed: { before: 'Cuando se propuso', after: 'Propuesto en su lugar' },
  },
  noAddress: 'ninguna dirección',
  noMain: 'ninguna sucursal principal',
  kept: 'Las direcciones que hay se mantienen.',
  openPayments: 'Los pagos abiertos conservan la dirección que muestran.',
  proposedBy: 'Propuesto por',
  proposedAt: 'Propuesto',
  networkName: 'Red',
  branch: 'Sucursal',
  takesEffect: 'Entra en vigor',
  approvedBy: 'Aprobado por',
  needsApproval: 'cuando otro admin lo apruebe',
  waits: 'Pendiente',
  waiting: 'Cambios pendientes',
  look: 'Ver el cambio',
  cancel: 'Cancelar este cambio',
  approveTitle: 'Aprobarlo',
  approve: 'Aprobar para que se aplique de inmediato',
  approveLead:
    'Compare cada grupo con lo que sepa por otra vía, no por un mensaje. Quien puede cambiar esta dirección se queda con el dinero.',
  ownChange: 'La propuesta es suya: otro admin puede aprobarla.',
  notYours: 'Cualquier admin puede cancelarlo.',
  propose: 'Proponer este cambio',
  setNow: 'Cambiar ahora',
  done: {
    proposed: 'Propuesto. Hasta que entre en vigor, cualquier admin puede cancelarlo.',
    approved: 'Aprobado.',
    cancelled: 'Cancelado.',
  },
  demo: 'La demo no pide ningún código aquí.',
  code: 'Código, o un código de recuperación',
  codeHint: 'Uno nuevo: cada uno sirve una sola vez.',
  delay: hours =>
    `Queda pendiente ${counted(hours, 'hora', 'horas')}; mientras tanto, cualquier admin puede cancelarlo, u otro admin aprobarlo.`,
  untilApproved: 'Queda pendiente hasta que otro admin lo apruebe.',
  atOnce: 'Entra en vigor de inmediato.',
  network: (name, asset) => `${asset} en ${name}`,
  moreWait: 'Hay más cambios pendientes.',
  severalByOperator: 'El operador ha cambiado hace poco, más de una vez, adónde va el dinero.',
  waitsFor: {
    'address.set': (network, branch) =>
      `Está pendiente una nueva dirección de depósito para ${network}, sucursal ${branch}.`,
    'address.add': (network, branch) =>
      `Está pendiente una dirección de depósito más para ${network}, sucursal ${branch}.`,
    'wallet.set': (network, branch) =>
      `Está pendiente una billetera con una dirección para cada pago en ${network}, sucursal ${branch}.`,
    'branch.main': (_, branch) => `Está pendiente que ${branch} pase a ser la sucursal principal.`,
    'merchant.one-admin': () => 'Está pendiente que se deje de exigir un segundo admin.',
  },
  byOperator: {
    'address.set': (network, branch) =>
      `El operador ha establecido una dirección de depósito para ${network}, sucursal ${branch}.`,
    'address.add': (network, branch) =>
      `El operador ha agregado una dirección de depósito para ${network}, sucursal ${branch}.`,
    'wallet.set': (network, branch) =>
      `El operador ha establecido una billetera para ${network}, sucursal ${branch}.`,
    'branch.main': (_, branch) => `El operador ha hecho de ${branch} la sucursal principal.`,
    'merchant.one-admin': () => 'El operador ya no exige un segundo admin.',
  },
};
