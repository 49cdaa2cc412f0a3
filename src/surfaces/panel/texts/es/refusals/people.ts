import type { PEOPLE } from '#errors/refusals/people.ts';
import type { Translation } from '#errors/refusals/wording.ts';
import { counted } from '../formats.ts';

export const people: Translation<typeof PEOPLE> = {
  'name-invalid': ({ maximum }) =>
    `Escriba un nombre de hasta ${counted(maximum, 'carácter', 'caracteres')}, en una sola línea.`,
  'email-invalid': 'Esto no es un correo electrónico, como ada@example.com.',
  'email-in-use': 'Ya hay alguien que inicia sesión con este correo.',
  'email-in-use-sign-in':
    'Ya hay alguien que inicia sesión con este correo. Si es usted, inicie sesión primero y abra el enlace de nuevo; si no, use otro correo.',
  'email-in-team': 'Ya hay alguien con este correo en el equipo.',
  'account-already-open': 'Usted ya puede entrar en esta cuenta.',

  'password-too-short': ({ minimum }) =>
    `Use al menos ${counted(minimum, 'carácter', 'caracteres')}; tres o cuatro palabras al azar son fáciles de recordar.`,
  'password-too-long': ({ maximum }) =>
    `Use como máximo ${counted(maximum, 'carácter', 'caracteres')}.`,
  'password-of-names':
    'La mitad de esto, o más, es un nombre o un correo que cualquiera podría probar. Elija otra.',
  'password-repeated': 'Esto repite una palabra o una secuencia de caracteres. Elija otra.',
  'password-of-rows': 'Esto sigue el orden del teclado o del alfabeto. Elija otra.',
  'password-common':
    'Muchas personas usan esta contraseña, y los atacantes la prueban. Elija otra.',
  'password-breached':
    'Esta contraseña apareció entre datos robados en otro lugar, y los atacantes la prueban. Elija otra.',

  'app-code-wrong':
    'Este no es el código que la aplicación muestra para este código QR. Espere al siguiente, y compruebe que los relojes están en hora.',
  'new-app-code-wrong': 'Este no es el código que muestra la nueva aplicación.',
  'wrong-code': 'Este código no es correcto. Espere al siguiente; cada uno sirve una sola vez.',
  'wrong-password': ({ wasRight }) => `Esta ${wasRight ? 'ya ' : ''}no es su contraseña.`,
  'too-many-passwords':
    'Hubo demasiadas contraseñas incorrectas. Espere un cuarto de hora; si sigue igual, pida un enlace para una nueva contraseña.',
  'too-many-codes': ({ isKnownDevice }) => {
    const here = isKnownDevice ? ' en este dispositivo' : '';
    const others = isKnownDevice
      ? ''
      : ', y de inmediato en un dispositivo con el que ya haya iniciado sesión';
    return `Se escribieron demasiados códigos incorrectos en su nombre${here}. Se aceptan códigos de nuevo en un cuarto de hora${others}. Si sigue igual, pida un enlace para una nueva contraseña.`;
  },

  'admin-needed': 'Para esto se necesita un admin del comercio.',
  'owner-needed': 'Para esto se necesita un propietario del socio.',
  'last-admin':
    'Nadie más inicia sesión como admin del comercio: dé primero ese rol a otra persona.',
  'last-owner': 'Nadie más inicia sesión como propietario: dé primero ese rol a otra persona.',
  'team-member-unknown': ({ memberId }) => `Nadie del equipo tiene el ID ${memberId}.`,
  'team-member-inactive': ({ name }) => `El acceso de ${name} está desactivado.`,
  'role-not-of-merchant': 'Un comercio tiene admins y miembros.',
  'role-not-of-partner': 'Un socio tiene propietarios y desarrolladores.',
  'link-for-oneself': 'Cambie su propia contraseña y su aplicación en su perfil.',
  'link-opens-other-account': ({ name }) =>
    `${name} también tiene otra cuenta, que el enlace abriría: solo puede crearlo el operador o, para alguien de un gemelo de prueba, un admin de la cuenta de producción.`,

  'invited-inactive': 'Nadie inicia sesión como un usuario inactivo.',
  'invited-already-joined':
    'Ya hay alguien que inicia sesión como este usuario. Cree un enlace para una nueva contraseña o aplicación de autenticación con mp user link.',
  'nobody-joined': 'Aún no inicia sesión nadie como este usuario; invite primero a alguien.',
  'link-for-demo': 'La persona de la demo no tiene nada con lo que iniciar sesión.',
};
