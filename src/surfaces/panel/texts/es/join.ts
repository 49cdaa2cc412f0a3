import { html } from '../../../pages/html.ts';
import type { PanelTexts } from '../panel-texts.ts';

export const join: PanelTexts['join'] = {
  invitation: {
    title: account => `Unirse a ${account}`,
    lead: (account, person, role) =>
      `${account} invita a ${person} a su panel, con el rol de ${role}.`,
    known: signIn =>
      html`¿Ya inicia sesión aquí? <a href="${signIn}">Inicie sesión</a>, y esta cuenta será una de las suyas.`,
    email: 'Correo electrónico para iniciar sesión',
    submit: 'Unirse',
  },

  acceptance: {
    text: (email, account) =>
      `Ha iniciado sesión con ${email}. ${account} será una de sus cuentas.`,
    submit: person => `Unirse como ${person}`,
    accepted: account => `Se ha unido a ${account}.`,
    otherPerson: '¿Es otra persona? Cierre sesión primero y abra el enlace de nuevo.',
  },

  renewal: {
    titles: {
      password: 'Elegir una nueva contraseña',
      factors: 'Configurar una nueva aplicación de autenticación',
      both: 'Elegir una nueva contraseña y aplicación de autenticación',
    },
    lead: 'Se cierran todas sus sesiones y tendrá que iniciar sesión de nuevo.',
    presentPassword: 'Su contraseña',
    account: 'su cuenta',
    submit: 'Guardar',
    renewed: {
      password: 'Se cambió su contraseña; se han cerrado todas sus sesiones.',
      factors: 'Se reemplazó su aplicación de autenticación; se han cerrado todas sus sesiones.',
      both: 'Se reemplazaron su contraseña y su aplicación de autenticación; se han cerrado todas sus sesiones.',
    },
  },

  email: {
    asked: email =>
      `Un mensaje va en camino a ${email}. Este correo aún no está confirmado: abra el enlace, para poder iniciar sesión en otros dispositivos y recibir correo. Su perfil tiene un botón que lo envía otra vez, unas pocas veces en una hora.`,
    title: 'Confirmar el correo electrónico',
    lead: email => `Desde entonces inicia sesión con ${email}, y nadie más puede hacerlo.`,
    password: 'Su contraseña',
    submit: 'Confirmar',
    confirmed: email => `Desde ahora inicia sesión con ${email}.`,
  },

  demo: {
    title: 'Explorar la demo',
    lead: 'Entrará en tres tiendas de demostración como admin, y en un socio de demostración como propietario. Nada de esto es real, y no se necesita contraseña.',
    submit: 'Abrir la demo',
  },

  ended: {
    title: 'Este enlace ya no funciona',
    text: 'Ya se usó, ha vencido o no se copió entero. Pida uno nuevo a quien lo creó.',
  },

  recoveryCodes: {
    title: 'Guarde sus códigos de recuperación',
    lead: 'Cada uno sustituye una vez a su aplicación de autenticación. Solo se muestran ahora: imprímalos, o guárdelos donde tiene sus contraseñas.',
  },

  newPassword: {
    label: 'Nueva contraseña',
    hint: 'Al menos 15 caracteres. Tres o cuatro palabras al azar son fáciles de recordar.',
  },

  app: {
    title: 'Aplicación de autenticación',
    lead: 'Escanee esto con una aplicación como Aegis, 1Password o Google Authenticator y escriba el código que muestre.',
    qrCode: 'Código QR para una aplicación de autenticación',
    open: '¿En este dispositivo? Abra la aplicación de autenticación',
    typed: '¿No tiene cámara? Escriba la clave',
    code: 'Código',
  },
};
