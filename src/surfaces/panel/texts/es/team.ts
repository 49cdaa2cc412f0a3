import { html } from '../../../pages/html.ts';
import type { PanelTexts } from '../panel-texts.ts';
import { counted } from './formats.ts';

export const team: PanelTexts['team'] = {
  title: 'Equipo',
  lead: {
    merchant:
      'Quién puede entrar en esta cuenta. Los admins del comercio la cambian; los miembros consultan y simulan pagos.',
    partner:
      'Quién puede entrar en esta cuenta. Los propietarios ven todo lo del socio; los desarrolladores, el resumen y sus propias claves de API.',
  },
  alone: {
    merchant:
      'Solo está usted: un segundo admin puede aprobar cambios de direcciones y ayudar si pierde el teléfono.',
    partner: 'Solo está usted: un segundo propietario puede ayudar si pierde el teléfono.',
  },
  noMail: {
    merchant:
      'Este servicio no envía correo: lo que requiere atención solo figura en Inicio, y los enlaces los envía usted.',
    partner:
      'Este servicio no envía correo: lo que requiere atención solo figura en el resumen, y los enlaces los envía usted.',
  },
  you: 'usted',
  inactive: 'acceso desactivado',
  roles: {
    admin: 'admin del comercio',
    member: 'miembro',
    owner: 'propietario',
    developer: 'desarrollador',
  },
  signsInWith: email => `Inicia sesión con ${email}`,
  unconfirmed: 'sin confirmar',
  factors: since => html`Contraseña y aplicación de autenticación, desde el ${since}`,
  recovered: at => html`Las renovó con un enlace el ${at}`,
  demo: 'Explora la demo, sin contraseña',
  lastSeen: at => html`Última actividad el ${at}`,
  neverSeen: 'Aún sin actividad',
  invited: until => html`Tiene una invitación; el enlace funciona hasta el ${until}`,
  linkOpen: until => html`Un nuevo enlace funciona hasta el ${until}`,
  notJoined: 'No se ha unido, y no tiene ninguna invitación que funcione',
  more: 'Más personas del equipo',
  back: 'Volver al equipo',

  invite: {
    title: 'Invitar a alguien',
    lead: 'La persona elige una contraseña y configura una aplicación de autenticación con un enlace que usted le envía. Funciona una sola vez, durante 72 horas.',
    name: 'Nombre',
    email: 'Correo electrónico',
    emailHint: 'Con el que iniciará sesión. No se le envía nada.',
    role: 'Rol',
    submit: 'Invitar',
    done: (name, role) => `Invitación creada: ${name}, con el rol de ${role}.`,
  },
  role: {
    action: 'Cambiar el rol',
    title: name => `Cambiar el rol de ${name}`,
    now: role => `Ahora: ${role}.`,
    submit: (name, role) => `Dar a ${name} el rol de ${role}`,
    effects: {
      admin: name =>
        `Como admin del comercio, ${name} también puede cambiar direcciones, claves de API, webhooks, la configuración y el equipo, resolver los depósitos sin asignar a ningún pago y ver la actividad.`,
      member: name =>
        `Como miembro, ${name} sigue viendo los pagos y la configuración, simula pagos y reenvía webhooks, pero ya no puede cambiar direcciones, claves de API, webhooks, la configuración ni el equipo, resolver depósitos ni ver la actividad.`,
      owner: name =>
        `Con el rol de propietario, ${name} también ve los comercios, sus pagos y su comisión, la actividad y las claves de API de todos, y puede cambiar el equipo y el autoservicio; sus propias claves de API pueden leer todos los informes y crear pagos.`,
      developer: name =>
        `Con el rol de desarrollador, ${name} solo ve el resumen, sus propias claves de API y las solicitudes hechas con ellas, y esas claves solo pueden leer el resumen.`,
    },
    alsoLost: {
      merchant:
        'Una clave suya del contrato anterior deja de funcionar, y pasa a ser miembro también en el gemelo de prueba de la cuenta, si lo hay.',
      partner: '',
    },
    when: 'Se aplica a partir de su próxima solicitud.',
    done: (name, role) => `${name} tiene ahora el rol de ${role}.`,
  },
  remaining: {
    merchant: others => remain(others, 'admin del comercio', 'admins del comercio'),
    partner: others => remain(others, 'propietario', 'propietarios'),
  },
  status: {
    deactivate: 'Desactivar',
    activate: 'Activar',
    titles: {
      inactive: name => `Desactivar el acceso de ${name}`,
      active: name => `Activar el acceso de ${name}`,
    },
    leaves: (name, role) =>
      `${name} tiene el rol de ${role}, y su sesión se cierra de inmediato. También terminan su invitación abierta y los enlaces que haya creado para otras personas.`,
    keys: 'Su acceso se desactiva también en el gemelo de prueba de la cuenta, si lo hay. Las claves de API de la cuenta siguen funcionando; una clave suya del contrato anterior, no.',
    ownKeys: keys =>
      keys === 0
        ? 'No tiene ninguna clave de API que funcione.'
        : `Desde entonces se ${keys === 1 ? 'rechaza' : 'rechazan'} ${counted(keys, 'clave de API suya', 'claves de API suyas')}.`,
    returns: {
      merchant:
        'Puede entrar de nuevo en la cuenta, con la contraseña y la aplicación que tenía. En su gemelo de prueba, si lo hay, su acceso sigue desactivado hasta que se active allí.',
      partner:
        'Puede entrar de nuevo en la cuenta, con la contraseña y la aplicación que tenía, y sus claves de API vuelven a funcionar.',
    },
    done: {
      inactive: name => `El acceso de ${name} está desactivado, y su sesión, cerrada.`,
      active: name => `El acceso de ${name} está activo de nuevo.`,
    },
  },
  link: {
    action: 'Nuevo enlace',
    title: name => `Un nuevo enlace para ${name}`,
    invitation:
      'Una nueva invitación, que funciona una sola vez, durante 72 horas. La anterior termina.',
    renewal:
      'Funciona una sola vez, durante una hora, y cierra todas sus sesiones. Asegúrese de que es esa persona quien lo pide. Durante las 24 horas siguientes, esa persona no puede cambiar adónde va el dinero.',
    purpose: 'Ha perdido',
    purposes: {
      factors: 'la aplicación; la contraseña se mantiene',
      password: 'la contraseña; la aplicación se mantiene',
      both: 'las dos',
    },
    submit: 'Crear el enlace',
    issued: 'El enlace, que se muestra una sola vez',
    issuedLead:
      'Quien lo tenga entra, una sola vez. No lo envíe a nadie más, y use un canal de confianza: el servicio no lo envía.',
    until: at => html`Funciona hasta el ${at}.`,
    label: 'Enlace',
    sent: 'Ya está copiado',
    done: name => `Creado: un enlace para ${name}. El anterior ha terminado.`,
  },
  done: {
    title: 'Esto ya se hizo',
    text: 'El formulario ya se había enviado. Su enlace se mostró entonces y no se puede volver a mostrar: si nadie lo guardó, cree otro.',
  },
};

/** @param role Of those who decide. */
function remain(others: number, role: string, roles: string): string {
  if (others === 0) return `Nadie más inicia sesión con el rol de ${role}.`;
  return `${others === 1 ? 'Queda' : 'Quedan'} ${counted(others, role, roles)}.`;
}
