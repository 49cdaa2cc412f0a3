import { html } from '../../../pages/html.ts';
import type { PanelTexts } from '../panel-texts.ts';
import { counted, minuteOf } from './formats.ts';

export const home: PanelTexts['home'] = {
  figuresLate:
    'Las cifras tardan demasiado en este momento; recargue la página para intentarlo de nuevo.',

  latest: {
    title: 'Últimos pagos',
    all: 'Todos los pagos',
    none: (keys, quickstart) =>
      html`Aún no hay pagos. <a href="${keys}">Cree una clave de API</a> y siga la <a href="${quickstart}">guía de inicio rápido</a>.`,
    demo: html`O cree uno desde una terminal con la clave de la demo:`,
  },

  paid: {
    title: 'Pagado',
    today: 'Hoy',
    last7Days: '7 días',
    last30Days: '30 días',
    payments: count => `Pagos: ${count}`,
    chart: 'Pagado en los últimos 30 días',
    days: 'Por días UTC, hoy incluido.',
  },

  attention: {
    title: 'Requiere atención',
    putAside: 'Apartar',
    isAside: 'Apartado para usted: se vuelve a mostrar cuando haya novedades.',
    isShown: 'Se muestra de nuevo.',
    unmatched: (deposits, isMaximum) =>
      `${counted(deposits, 'depósito', 'depósitos')} ${isMaximum ? 'o más ' : ''}sin asignar a ningún pago`,
    keyExpires: (key, day) => `La clave de API ${key} vence el ${day}`,
    formerSecret: (key, until) =>
      `El secreto anterior de la clave de API ${key} aún funciona hasta el ${until}`,
    endpointFails: origin =>
      `Desde hace una hora o más no se puede entregar nada al endpoint de webhook en ${origin}`,
    keyMade: (name, day) => `La clave de API ${name} se creó el ${day}`,
    endpointDisabled: (origin, reason) =>
      `El endpoint de webhook en ${origin} está desactivado: ${reason}`,
    refused: (requests, errorCode) =>
      `${counted(requests, 'solicitud rechazada', 'solicitudes rechazadas')} con ${errorCode} en la última hora`,
    withoutAddress: networks =>
      `${counted(networks, 'red activa en la', 'redes activas en las')} que los clientes no pueden pagar, por falta de una dirección`,
    olderContract: day =>
      `El contrato anterior aún se usa, la última vez el ${day}; cree una clave de API para el que lo sustituye`,
    newDevice: (at, address) =>
      `Alguien inició sesión en su nombre con un dispositivo nuevo el ${minuteOf(at)}, desde ${address}. Si no fue usted, cambie su contraseña`,
    ownChanges: {
      'person.password': 'Se cambió su contraseña',
      'person.app': 'Se reemplazó su aplicación de autenticación',
      'person.recovery-codes': 'Se reemplazaron sus códigos de recuperación',
      'person.email': 'Se cambió el correo con el que inicia sesión',
      'person.renew': 'Un enlace le dio una nueva contraseña o aplicación de autenticación',
    },
    ownChange: (what, at, address) =>
      `${what} el ${minuteOf(at)}, desde ${address}. Si no fue usted, avise al operador`,
    linkMade: (at, by) =>
      `${by ?? 'El operador'} creó el ${minuteOf(at)} un enlace para una nueva contraseña o aplicación de autenticación suya. Si no lo pidió, cambie su contraseña`,
    adminGone: {
      merchant: (name, day, by) =>
        `${name} ya no es admin: lo cambió ${by ?? 'el operador'} el ${day}`,
      partner: (name, day, by) =>
        `${name} ya no tiene el rol de propietario: lo cambió ${by ?? 'el operador'} el ${day}`,
    },
    recoveryCodes: left =>
      left === 0
        ? 'No le queda ningún código de recuperación'
        : `${left === 1 ? 'Le queda' : 'Le quedan'} ${counted(left, 'código de recuperación', 'códigos de recuperación')}`,
  },

  steps: {
    titles: {
      beforeLive: 'Antes de pasar a producción',
      cannotSettle: 'Ningún pago puede completarse',
      beforeFirst: 'Hasta que pueda completarse un primer pago',
      advised: 'Aún por configurar',
    },
    advised: 'recomendado',
    remedies: {
      addBranch: 'Agregar una sucursal',
      setAddress: 'Establecer una dirección, o una billetera de Bitcoin',
      addDomain: 'Agregar un dominio',
      createKey: 'Crear una clave',
      addEndpoint: 'Agregar un endpoint',
    },
    askAdmin: 'Pídalo a un admin del comercio de esta cuenta.',
    askOperator: command => html`Pídalo al operador: ${command}`,
  },
};
