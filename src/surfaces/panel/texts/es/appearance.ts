import type { PanelTexts } from '../panel-texts.ts';

export const appearance: PanelTexts['appearance'] = {
  title: 'Apariencia',
  lead: 'Lo que ven los clientes de su comercio al pagar. Un cambio se aplica a partir de la siguiente página que abran.',
  usAccount:
    'Los clientes de una cuenta de EE. UU. pagan en la página de su procesador, que no muestra nada de esto.',
  logo: 'Logotipo',
  logoHint: (kib, pixels) =>
    `PNG o WebP, de hasta ${kib} KiB y ${pixels} píxeles por lado. Se publica sin cambios: quite antes sus metadatos, como el lugar de una foto.`,
  removeLogo: 'Quitar el logotipo',
  chooseAgain: 'Elija de nuevo el logotipo: el navegador no lo conserva.',
  accent: 'Color de acento',
  accentHint:
    'En botones y enlaces: elíjalo, o escríbalo como #rrggbb. Donde no se leería bien, se usa un tono más oscuro o más claro. Vacío para el color habitual.',
  accentExample: '#7c3aed',
  accentPicker: 'Elegir el color de acento',
  support: 'Contacto de soporte',
  supportHint:
    'A quién acuden los clientes cuando un pago falla: un correo electrónico o una dirección https. Vacío para no indicar ninguno.',
  supportExample: 'ayuda@tienda.example.com',
  showsNote: 'Mostrar a los clientes la nota de un pago',
  save: 'Guardar',
  saved: 'Guardado: sus clientes lo ven en la siguiente página que abran.',
  unchanged: 'No se ha cambiado nada.',
  none: 'ninguno',
  usualColor: 'el habitual',
  has: { logo: 'visible', note: 'visible', noNote: 'oculta' },
  note: 'Nota de un pago',
  faults: {
    logo: reason => `Esta imagen no sirve: ${reason}.`,
    logoTooLarge: bytes => `Esta imagen tiene demasiados bytes: se aceptan ${bytes} como máximo.`,
    accent: 'Escriba el color como # y seis dígitos hexadecimales, por ejemplo #7c3aed.',
    support: 'El contacto es un correo electrónico o una dirección que empieza por https://.',
  },
  preview: {
    title: 'Vista previa',
    hint: 'Un ejemplo con lo que hay en el formulario, esté guardado o no. En él no se puede pulsar ni pagar nada.',
    hintSaved: 'Un ejemplo. En él no se puede pulsar ni pagar nada.',
    frame: 'Ejemplo de la página de pago',
    stages: {
      choose: 'Elegir moneda',
      waiting: 'Pagar',
      paid: 'Pagado',
      expired: 'No pagado',
    },
    example: 'Ejemplo: aquí no se puede pagar nada.',
    reference: 'A-1042',
    noteText: 'Dos bolsas de café espresso, molido',
  },
};
