import type { PanelTexts } from '../panel-texts.ts';
import { counted, minuteOf } from './formats.ts';

type MoneyChange = Parameters<PanelTexts['mails']['moneyChange']['texts']['propose']>[0];

/** Names an operator, who has no account in the panel. */
const OPERATOR = 'el operador';

/** What a change of where money goes would do, within a sentence. */
const money = {
  'address.set': (where: string) => `una nueva dirección de depósito ${where}`,
  'wallet.set': (where: string) => `una billetera con una dirección para cada pago ${where}`,
  'address.add': (where: string) => `una dirección de depósito más ${where}`,
  'branch.main': (_: string, branch: string) => `${branch} como sucursal principal`,
  'merchant.one-admin': () => 'un admin en lugar de dos para cambiar adónde va el dinero',
} as const;

/** What a link lets its holder do, within a sentence. */
const renewals = {
  password: 'elegir una nueva contraseña para usted',
  factors: 'configurar una nueva aplicación de autenticación para usted',
  both: 'elegir una nueva contraseña y configurar una nueva aplicación de autenticación para usted',
} as const;

/** What was changed of what somebody signs in with, as the beginning of a sentence. */
const changed = {
  password: 'Se cambió su contraseña',
  app: 'Se reemplazó su aplicación de autenticación',
  both: 'Se reemplazaron su contraseña y su aplicación de autenticación',
  'recovery-codes': 'Se reemplazaron sus códigos de recuperación',
  email: 'Se cambió el correo con el que inicia sesión: ya no es este',
} as const;

function thingOf({ kind, network, branch }: MoneyChange): string {
  return money[kind](`para ${network}, sucursal ${branch}`, branch);
}

export const mails: PanelTexts['mails'] = {
  greeting: name => (name === '' ? 'Hola:' : `Hola, ${name}:`),
  because: {
    person: 'Recibe este mensaje porque se refiere a su propio inicio de sesión.',
    merchant: account =>
      `Recibe este mensaje porque es admin de ${account}, o lo era hasta hace poco.`,
    partner: account =>
      `Recibe este mensaje porque tiene el rol de propietario en ${account}, o lo tenía hasta hace poco, o porque se trata de su propia clave de API.`,
  },
  look: 'Véalo en el panel:',

  signIn: {
    subject: 'Inició sesión con un dispositivo nuevo',
    text: (at, address) => [
      `Alguien inició sesión en su nombre con un dispositivo desconocido, el ${minuteOf(at)}, desde ${address}.`,
      'Si fue usted, no tiene que hacer nada. Si no, alguien tiene su contraseña y un código: cambie su contraseña, configure una nueva aplicación de autenticación y cierre todas las demás sesiones.',
    ],
  },
  codesClosed: {
    subject: 'Se escribieron códigos incorrectos en su nombre',
    text: (at, wrongCodes) => [
      `Códigos incorrectos que se escribieron en su nombre: ${wrongCodes}, el último el ${minuteOf(at)}. Durante un tiempo no se aceptan códigos, salvo en dispositivos con los que ya ha iniciado sesión.`,
      'Si no fue usted, alguien conoce su contraseña: cámbiela.',
    ],
  },
  linkMade: {
    subject: 'Se creó un enlace para una nueva contraseña o aplicación de autenticación suya',
    text: (at, purpose, by) => [
      `${by ?? 'El operador'} ha creado el ${minuteOf(at)} un enlace que permite ${renewals[purpose]}. Funciona una sola vez, durante una hora.`,
      'Si no lo ha pedido, quien lo tenga puede iniciar sesión en su nombre: cambie su contraseña ahora, lo que anula el enlace, y avise al operador.',
    ],
  },
  signInChanged: {
    subject: 'Se cambió aquello con lo que inicia sesión',
    text: (what, withLink, at, address) => [
      `${changed[what]}${withLink ? ', con un enlace' : ''}, el ${minuteOf(at)}, desde ${address}.`,
      'Si fue usted, no tiene que hacer nada. Si no, otra persona puede iniciar sesión en su nombre: avise de inmediato a otro admin o propietario, y al operador.',
    ],
  },
  passwordLink: {
    subject: 'Un enlace para una nueva contraseña',
    text: address => [
      `Alguien ha pedido, desde ${address}, un enlace con el que usted puede elegir una nueva contraseña. Funciona una sola vez, durante una hora. Su aplicación de autenticación no cambia.`,
    ],
    link: 'Elija una nueva contraseña:',
    ignore:
      'Si no lo ha pedido usted, no tiene que hacer nada: nada cambia mientras no se use el enlace. No se lo dé a nadie.',
  },
  emailLink: {
    subject: 'Confirme su correo electrónico',
    text: address => [
      `Alguien quiere, desde ${address}, iniciar sesión en el panel con este correo.`,
      'Si fue usted, abra este enlace y escriba su contraseña. Funciona una sola vez, durante un día.',
    ],
    taken: address => [
      `Alguien quiere, desde ${address}, iniciar sesión en el panel con este correo, con el que usted ya inicia sesión.`,
      'Si fue usted: un correo sirve para iniciar sesión como una sola persona. Elija otro correo en el perfil de la nueva; o conserve la que tiene, y pida una nueva invitación a quien le invitó, que aceptará después de iniciar sesión.',
      'Si no fue usted, no haga nada. Su inicio de sesión sigue como estaba.',
    ],
    link: 'Confirme el correo:',
    ignore: 'Si no fue usted, no haga nada: sin el enlace y una contraseña no cambia nada.',
  },
  adminGone: {
    merchant: {
      subject: account => `Se ha quitado un admin de ${account}`,
      text: {
        deactivated: (name, by, account) =>
          `${by ?? 'El operador'} ha desactivado el acceso de ${name}, que era admin de ${account}.`,
        demoted: (name, by, account) =>
          `${by ?? 'El operador'} ha cambiado a miembro el rol de ${name}, que era admin de ${account}.`,
      },
    },
    partner: {
      subject: account => `Se ha quitado un propietario de ${account}`,
      text: {
        deactivated: (name, by, account) =>
          `${by ?? 'El operador'} ha desactivado el acceso de ${name}, que tenía el rol de propietario en ${account}.`,
        demoted: (name, by, account) =>
          `${by ?? 'El operador'} ha cambiado a desarrollador el rol de ${name}, que tenía el de propietario en ${account}.`,
      },
    },
    unknown:
      'Si no sabía nada de esto, puede que alguien quiera quedarse a solas con la cuenta: revise lo que está pendiente en ella y avise de inmediato al operador.',
  },
  adminNew: {
    merchant: {
      subject: account => `${account} tiene otro admin`,
      text: {
        made: (name, by, account) =>
          `${by ?? 'El operador'} ha dado a ${name} el rol de admin de ${account}.`,
        activated: (name, by, account) =>
          `${by ?? 'El operador'} ha activado el acceso de ${name}, que vuelve a ser admin de ${account}.`,
        joined: (name, by, account) =>
          `${name} ha aceptado una invitación de ${by ?? OPERATOR} y ahora es admin de ${account}.`,
      },
    },
    partner: {
      subject: account => `${account} tiene otro propietario`,
      text: {
        made: (name, by, account) =>
          `${by ?? 'El operador'} ha dado a ${name} el rol de propietario en ${account}.`,
        activated: (name, by, account) =>
          `${by ?? 'El operador'} ha activado el acceso de ${name}, que vuelve a tener el rol de propietario en ${account}.`,
        joined: (name, by, account) =>
          `${name} ha aceptado una invitación de ${by ?? OPERATOR} y ahora tiene el rol de propietario en ${account}.`,
      },
    },
    unknown:
      'Si no sabía nada de esto, puede que alguien se esté apoderando de la cuenta: desactive el acceso de esa persona en el equipo y avise de inmediato al operador.',
  },
  keyMade: {
    created: {
      subject: account => `Se creó una clave de API de ${account}`,
      text: (name, keyId, by, account) =>
        `${by ?? 'El operador'} ha creado la clave de API «${name}» (${keyId}) de ${account}.`,
    },
    rotated: {
      subject: account => `Se rotó una clave de API de ${account}`,
      text: (name, keyId, by, account) =>
        `${by ?? 'El operador'} ha dado un nuevo secreto a la clave de API «${name}» (${keyId}) de ${account}.`,
    },
    unknown: 'Si nadie de su equipo lo sabe, revóquela y revise quién ha iniciado sesión.',
  },
  keyExpires: {
    subject: account => `Una clave de API de ${account} está por vencer`,
    text: (name, keyId, expiresAt, account) => [
      `La clave de API «${name}» (${keyId}) de ${account} vence el ${minuteOf(expiresAt)}. Desde entonces se rechazan todas las solicitudes con ella.`,
      'Cree antes una nueva clave y use esa.',
    ],
  },
  moneyChange: {
    subjects: {
      propose: account => `Hay un cambio de adónde va el dinero pendiente en ${account}`,
      apply: account => `Se cambió adónde va el dinero en ${account}`,
      cancel: account => `Se canceló un cambio de adónde va el dinero en ${account}`,
      lapse: account => `Caducó un cambio de adónde va el dinero en ${account}`,
    },
    texts: {
      propose: change =>
        `${change.by ?? 'El operador'} ha propuesto ${thingOf(change)}. ${
          change.needsApproval
            ? 'Queda pendiente hasta que otro admin lo apruebe.'
            : `Rige a partir del ${minuteOf(change.effectiveAt)}, salvo que un admin lo cancele antes.`
        }`,
      apply: change =>
        `${change.proposedBy ?? 'El operador'} ha establecido ${thingOf(change)}${
          change.approvedBy === null ? '' : `, con la aprobación de ${change.approvedBy}`
        }. Ya rige.`,
      cancel: change =>
        `${change.by ?? 'El operador'} ha cancelado lo que había propuesto ${change.proposedBy ?? OPERATOR}: ${thingOf(change)}. No ha cambiado nada.`,
      lapse: change =>
        `Caducó lo que había propuesto ${change.proposedBy ?? OPERATOR}: ${thingOf(change)}. Lo que iba a reemplazar había cambiado entretanto, o quien lo propuso ya no era admin.`,
    },
    unknown:
      'Quien puede cambiar esto se queda con el dinero. Si no sabía nada, cancele lo que está pendiente y pregunte de inmediato a los demás admins.',
  },
  webhookFails: {
    subject: account => `Los webhooks de ${account} no se entregan`,
    text: (host, account) => [
      `Desde hace una hora o más no se puede entregar nada al endpoint de webhook de ${account} en ${host}. El servicio lo sigue intentando durante tres días.`,
    ],
  },
  webhookDisabled: {
    subject: account => `Se desactivó un endpoint de webhook de ${account}`,
    text: (host, reason, account) => [
      `El endpoint de webhook de ${account} en ${host} se desactivó y ya no recibe eventos: ${reason}`,
    ],
  },
  unmatched: {
    subject: account => `Ha llegado a ${account} dinero sin asignar a ningún pago`,
    text: (day, deposits, account) => [
      deposits === 1
        ? `1 depósito del ${day} (UTC) en direcciones de ${account} espera que alguien indique para qué es.`
        : `${counted(deposits, 'depósito', 'depósitos')} del ${day} (UTC) en direcciones de ${account} esperan que alguien indique para qué son.`,
    ],
  },
};
