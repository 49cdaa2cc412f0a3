import { html } from '../../../pages/html.ts';
import type { PanelTexts } from '../panel-texts.ts';

export const failures: PanelTexts['failures'] = {
  statuses: {
    400: {
      title: 'No se puede leer este formulario',
      text: 'Vuelva atrás, recargue la página e inténtelo de nuevo.',
    },
    404: {
      title: 'Esta página no existe',
      text: 'No existe, o no es de ninguna de sus cuentas. Compruebe el enlace, o empiece por sus cuentas.',
    },
    405: {
      title: 'Esta página se pide de otra forma',
      text: 'Ábrala con su enlace, o envíe de nuevo su formulario.',
    },
    429: {
      title: 'Demasiadas solicitudes',
      text: 'Espere un minuto e inténtelo de nuevo.',
    },
    431: {
      title: 'Esta solicitud es demasiado grande',
      text: 'Su navegador envía demasiados datos con ella, probablemente cookies. Elimine las cookies de este sitio e inicie sesión de nuevo.',
    },
    503: {
      title: 'No disponible en este momento',
      text: 'Inténtelo de nuevo en un minuto. Si ha enviado un formulario, compruebe primero si ya se realizó.',
    },
  },
  other: {
    title: 'Algo ha fallado por nuestra parte',
    text: 'Inténtelo de nuevo en un minuto. Si ha enviado un formulario, compruebe primero si ya se realizó. Si el fallo continúa, indique al operador el ID de la solicitud.',
  },
  request: id => html`Solicitud ${id}`,

  foreignOrigin: {
    title: 'Esta solicitud llegó de otro sitio',
    text: html`No se ha cambiado nada. Los formularios se aceptan, y los archivos se entregan, solo desde las páginas de este panel; abra la página de nuevo e inténtelo desde allí.`,
  },
  privateKey: {
    title: 'Eso era una clave privada, o las palabras de una billetera',
    text: html`No se ha guardado nada, ni se ha cambiado nada. Este servicio no debe tener nunca ni una ni otras: quien las haya visto puede llevarse el dinero, y su navegador puede haberlas conservado. <strong>Mueva el dinero a una billetera nueva.</strong> Aquí solo se pide una dirección o una clave pública extendida (xpub, ypub, zpub).`,
  },
  accountInactive: {
    title: 'Esta cuenta está inactiva',
    text: 'No se ha cambiado nada: una cuenta inactiva solo se puede consultar. Diríjase al operador.',
  },
  notAllowed: {
    title: 'No tiene permiso para esto',
    text: (role, account, needed, admins) =>
      `Su rol en ${account} es ${role}; para esto se necesita el de ${needed}${admins.length === 0 ? '' : `: ${admins.join(', ')}`}.`,
  },
};
