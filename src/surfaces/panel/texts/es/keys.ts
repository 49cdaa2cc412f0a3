import { html } from '../../../pages/html.ts';
import type { PanelTexts } from '../panel-texts.ts';
import { countedUpTo } from './formats.ts';

export const keys: PanelTexts['keys'] = {
  title: 'Claves de API',
  lead: quickstart =>
    html`Una clave firma las solicitudes de su servidor. La <a href="${quickstart}">guía de inicio rápido</a> muestra cómo.`,
  create: 'Crear una clave',
  none: 'Aún no hay claves. Cada una consta de un ID, un secreto y una frase de contraseña, que se muestran una sola vez.',

  columns: {
    name: 'Nombre',
    state: 'Estado',
    lastUse: 'Último uso',
    id: 'ID de la clave',
    owner: 'De quién',
  },
  never: 'nunca',

  states: {
    revoked: 'revocada',
    expired: 'vencida',
    rotating: 'en rotación',
    active: 'activa',
  },

  scopes: {
    'payment_prompts:write': 'crear pagos',
    'payment_prompts:read': 'leer pagos',
    'blockchains:read': 'listar redes',
    'partner_overview:read': 'leer el resumen',
    'partner_merchants:read': 'leer comercios',
    'partner_payments:read': 'leer pagos de los comercios',
    'partner_team:read': 'leer el equipo',
  },

  form: {
    title: 'Crear una clave de API',
    name: 'Nombre',
    nameHint: 'Qué la usa, por ejemplo: servidor de la tienda.',
    scopes: 'Qué permite',
    scopesHint: 'Una clave en la que no se marca nada lo permite todo.',
    expiry: 'Vencimiento',
    expiries: { never: 'Nunca', 90: 'En 90 días', 365: 'En un año', date: 'En una fecha' },
    date: 'Fecha, si se eligió una',
    submit: 'Crear',
    faults: {
      name: 'Escriba un nombre de 1 a 200 caracteres, en una sola línea.',
      expiry: 'Elija cuándo vence.',
      date: 'Elija la fecha en la que vence.',
      pastDate: 'Elija una fecha futura.',
    },
  },

  issued: {
    created: 'Su nueva clave de API',
    rotated: key => `El nuevo secreto de ${key}`,
    lead: 'El secreto y la frase de contraseña solo se muestran ahora. Guárdelos donde su servidor lee sus secretos.',
    id: 'ID de la clave',
    secret: 'Secreto',
    passphrase: 'Frase de contraseña',
    environment: 'Como variables de entorno',
  },

  done: {
    title: 'Esto ya se hizo',
    text: 'El formulario ya se había enviado. Su secreto se mostró entonces y no se puede volver a mostrar: si nadie lo guardó, revoque la clave y cree otra.',
  },

  facts: {
    scopes: 'Permite',
    owner: 'De quién',
    created: 'Creada',
    expires: 'Vence',
    rotated: 'Rotada',
    formerSecret: 'El secreto anterior funciona hasta',
    revoked: 'Revocada',
    lastUse: 'Último uso',
    lastError: 'Último error',
  },
  usedFrom: (at, address) => html`${at} desde ${address}`,

  use: {
    neverUsed: 'No se ha usado nunca.',
    lastUsed: at => html`Se usó por última vez el ${at}.`,
    lastHour: (requests, most) =>
      `En el registro de solicitudes hay ${countedUpTo(requests, most, 'solicitud', 'solicitudes')} con ella de la última hora.`,
  },

  rotation: {
    title: 'Rotar',
    text: 'Un nuevo secreto y una nueva frase de contraseña con el mismo ID de clave. Con margen, los anteriores funcionan 24 horas más, mientras se instalan los nuevos.',
    withGrace: 'Rotar con margen',
    atOnce: 'Rotar de inmediato',
    question: key => `¿Rotar ${key}?`,
    endsAt: until =>
      html`La clave recibe un nuevo secreto y una nueva frase de contraseña. Los anteriores funcionan hasta el ${until}, y a partir de entonces se rechazan.`,
    endsAtOnce:
      'La clave recibe un nuevo secreto y una nueva frase de contraseña. Los anteriores se rechazan de inmediato: las solicitudes de su servidor fallan hasta que tenga los nuevos.',
  },

  revocation: {
    title: 'Revocar',
    text: 'Desde entonces se rechazan las solicitudes con esta clave. Eso no se puede deshacer.',
    name: key => `Escriba el nombre de la clave para revocarla: ${key}`,
    submit: 'Revocar',
    wrongName: 'Este no es el nombre de la clave. No se ha revocado nada.',
    revoked: key => `Revocada: desde ahora se rechazan las solicitudes con ${key}.`,
  },
};
