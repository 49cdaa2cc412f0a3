import { html } from '../../../pages/html.ts';
import type { PanelTexts } from '../panel-texts.ts';
import { counted, minuteOf } from './formats.ts';

export const profile: PanelTexts['profile'] = {
  demo: 'Está explorando la demo: no hay nada con lo que iniciar sesión.',
  signingIn: 'Inicio de sesión',
  fewRecoveryCodes: left =>
    left === 0
      ? 'No le queda ningún código de recuperación: sin su teléfono no puede iniciar sesión. Cree otros nuevos.'
      : `${left === 1 ? 'Le queda' : 'Le quedan'} ${counted(left, 'código de recuperación', 'códigos de recuperación')}. Cree otros nuevos antes de que se agoten.`,
  recoveryCodes: left =>
    left === 0 ? 'no queda ninguno' : `${left === 1 ? 'queda' : 'quedan'} ${left}`,
  unconfirmed: email =>
    `${email} no está confirmado: hasta que abra el enlace del mensaje que se le envió, solo inicia sesión en dispositivos en los que ya lo ha hecho, y no recibe correo. Si está mal escrito, cámbielo.`,
  confirmEmail: email =>
    `Su correo electrónico no está confirmado: abra el enlace del mensaje enviado a ${email}.`,
  unconfirmedWithoutMail: email =>
    `${email} no está confirmado: hasta que lo indique otra vez en «Cambiar el correo electrónico», solo inicia sesión en dispositivos en los que ya lo ha hecho.`,
  confirmEmailWithoutMail:
    'Su correo electrónico no está confirmado: indíquelo otra vez en «Cambiar el correo electrónico», en su perfil.',
  resend: 'Enviar el enlace otra vez',
  closedCodes: (failures, last) =>
    `Códigos incorrectos que se escribieron en su nombre: ${failures}, el último el ${minuteOf(last)}. Si no fue usted, alguien conoce su contraseña: cámbiela`,
  mail: 'Recibe un correo si se inicia sesión con un dispositivo nuevo, si se escriben códigos incorrectos en su nombre, si se crea un enlace para usted y si cambia aquello con lo que inicia sesión.',
  noMail:
    'Este servicio no envía correo: de un inicio de sesión con un dispositivo nuevo, de un enlace creado para usted y de los cambios de aquello con lo que inicia sesión solo se informa en la primera página de una cuenta, y de los códigos incorrectos, allí y aquí.',

  sessions: {
    title: 'Sesiones',
    lead: 'Una sesión se cierra tras una hora sin ninguna solicitud y, en cualquier caso, tras doce horas.',
    own: 'esta',
    half: 'solo contraseña',
    seen: (address, since, last) =>
      html`${address}, desde el ${since}, última actividad el ${last}`,
    unknownBrowser: 'Navegador desconocido',
    device: (browser, system) => `${browser} en ${system}`,
    end: 'Cerrar',
    ended: 'La sesión se ha cerrado.',
    endOthers: 'Cerrar todas las demás',
    othersEnded: ended =>
      `${ended === 1 ? 'Se ha cerrado' : 'Se han cerrado'} ${counted(ended, 'sesión más', 'sesiones más')}.`,
  },

  language: {
    title: 'Idioma',
    label: 'Idioma de estas páginas',
    byBrowser: 'El que pida mi navegador',
    hint: 'El correo que recibe también se envía en este idioma, y en inglés mientras decida su navegador.',
    submit: 'Guardar',
    changed: 'Desde ahora, estas páginas están en español.',
    changedByBrowser: 'Desde ahora, estas páginas están en el idioma de su navegador.',
  },

  changes: {
    email: 'Cambiar el correo electrónico',
    password: 'Cambiar la contraseña',
    app: 'Cambiar la aplicación de autenticación',
    'recovery-codes': 'Crear nuevos códigos de recuperación',
  },
  changed: {
    email: 'Se cambió su correo electrónico; se han cerrado todas sus demás sesiones.',
    password: 'Se cambió su contraseña; se han cerrado todas sus demás sesiones.',
    app: 'Se reemplazó su aplicación de autenticación; se han cerrado todas sus demás sesiones.',
    'recovery-codes':
      'Se reemplazaron sus códigos de recuperación; se han cerrado todas sus demás sesiones.',
  },
  emailAsked: email =>
    `Un mensaje va en camino a ${email}. Iniciará sesión con ese correo cuando haya abierto su enlace.`,
  form: {
    lead: 'Se cierran todas sus demás sesiones.',
    emailLead:
      'Se envía un mensaje con un enlace al nuevo correo. Cuando lo haya abierto, iniciará sesión con él, y se cierran todas sus demás sesiones.',
    unconfirmedEmailLead:
      'Se envía un mensaje con un enlace al nuevo correo. Inicia sesión con él desde ahora en los dispositivos en los que ya lo ha hecho, y en los demás cuando haya abierto el enlace.',
    newEmail: 'Nuevo correo electrónico',
    newApp: 'Escanee esto con la nueva aplicación y escriba el código que muestre.',
    newAppCode: 'Código de la nueva aplicación',
    recoveryCodes: 'Los códigos que tiene ahora dejan de funcionar.',
    proof: 'Prueba de que es usted',
    back: 'Volver a su perfil',
    password: 'Contraseña',
    presentPassword: 'Contraseña actual',
    code: 'Código, o un código de recuperación',
    presentAppCode: 'Código de la aplicación actual, o un código de recuperación',
  },
};
