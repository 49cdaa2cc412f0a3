import { html } from '../../../pages/html.ts';
import type { PanelTexts } from '../panel-texts.ts';

export const signIn: PanelTexts['signIn'] = {
  title: 'Iniciar sesión',
  email: 'Correo electrónico',
  password: 'Contraseña',
  submit: 'Continuar',
  forgottenLink: '¿Olvidó su contraseña?',
  noAccount:
    '¿No tiene cuenta, o perdió el teléfono? Pida un enlace a quien administra la cuenta, o al operador.',
  demo: html`Las personas de la demo inician sesión con un enlace, sin contraseña. <code>npx --no mp user demo-link</code> muestra uno.`,
  unconfirmed:
    'Hasta que haya abierto el enlace del mensaje que confirma su correo, solo inicia sesión en el dispositivo con el que se unió.',
  refused:
    'El correo o la contraseña no son correctos, o hubo demasiados intentos. Inténtelo de nuevo y, si sigue igual, pasado un cuarto de hora.',
  signedOut: 'Ha cerrado sesión.',
  sessionEnded: 'Su sesión ha terminado. Inicie sesión de nuevo.',

  forgotten: {
    title: 'Una nueva contraseña',
    lead: 'Escriba el correo con el que inicia sesión. Se le envía un enlace para una nueva contraseña.',
    submit: 'Enviar un enlace',
    otherFactor:
      'Su aplicación de autenticación no cambia. Si también la ha perdido, pida un enlace a quien administra la cuenta, o al operador.',
    asked: {
      title: 'Revise su correo',
      text: 'Si alguien inicia sesión con ese correo, un enlace va en camino. Funciona una sola vez, durante una hora.',
      nothing:
        '¿No llega nada después de unos minutos? Mire en la carpeta de correo no deseado, revise lo que escribió o consulte a quien administra la cuenta. A un correo solo se le envían unos pocos enlaces en una hora.',
    },
    noMail:
      'Este servicio no envía correo. Otro admin o propietario de su cuenta crea un enlace para una nueva contraseña, en Equipo, o lo hace el operador.',
    operator: html`Para operadores: <code>mp user link USER --password</code>, o <code>mp member link</code>.`,
  },

  code: {
    title: 'Escriba su código',
    label: 'Código',
    hint: 'Seis dígitos de su aplicación de autenticación, o uno de sus códigos de recuperación.',
    submit: 'Confirmar',
  },
  confirmation: {
    title: 'Confirme que es usted',
    lead: 'Esto requiere su segundo factor, porque no lo ha dado en los últimos diez minutos. Lo que ha escrito se conserva.',
    back: 'No hacer nada y volver',
    demo: 'La demo no pide ningún código: una cuenta real lo pediría aquí.',
  },
};
