import { html } from '../../../pages/html.ts';
import type { PanelTexts } from '../panel-texts.ts';
import { counted, countedUpTo, minuteOf } from './formats.ts';
import { disablings } from './refusals/disablings.ts';

export const webhooks: PanelTexts['webhooks'] = {
  title: 'Webhooks',
  lead: guide =>
    html`Su servidor recibe un aviso de cada cambio de un pago. La <a href="${guide}">guía</a> muestra cómo lo verifica.`,
  create: 'Agregar un endpoint',
  none: 'Aún no hay endpoints. Cada uno es una URL de su servidor que recibe eventos firmados.',
  left: left => `Puede agregar ${counted(left, 'endpoint más', 'endpoints más')}.`,
  full: most =>
    `Hay ${counted(most, 'endpoint activo', 'endpoints activos')}, el máximo permitido. Desactive uno para agregar otro.`,
  originOnly: 'Los miembros solo ven el origen de una URL: el resto puede contener un secreto.',

  columns: {
    url: 'URL',
    state: 'Estado',
    types: 'Recibe',
    secret: 'Secreto desde',
  },
  states: { enabled: 'activo', failing: 'con fallos', disabled: 'desactivado' },
  allTypes: 'todo lo de los pagos',
  someTypes: types => counted(types, 'tipo', 'tipos'),
  secretAge: (at, days) => html`${at} (${counted(days, 'día', 'días')})`,

  form: {
    title: 'Agregar un endpoint de webhook',
    url: 'URL',
    urlExample: 'https://tienda.example.com/webhooks',
    urlHint: isHttpAllowed =>
      isHttpAllowed
        ? 'Donde su servidor recibe eventos. En producción tiene que empezar por https:// y estar en una dirección pública.'
        : 'Donde su servidor recibe eventos. Tiene que empezar por https:// y estar en una dirección pública.',
    types: 'Qué recibe',
    submit: 'Agregar',
    noType: 'Marque al menos una de las cosas que recibe.',
    everyAndSome:
      'Están marcados todos los eventos de un pago y, además, algunos de ellos. Desmarque lo primero o los demás.',
  },
  everyType: 'Todos los eventos de un pago, también los de tipos futuros',
  types: {
    'payment_prompt.created': 'se creó un pago',
    'payment_prompt.detected': 'se detectó su transferencia, que aún no es definitiva',
    'payment_prompt.successful': 'se pagó',
    'payment_prompt.unsuccessful': 'no se completó',
    'payment_prompt.expired': 'venció',
    'payment_prompt.cancelled': 'se canceló',
    'payment_prompt.deposit_unmatched': 'llegó una transferencia sin asignar a ningún pago',
  },

  issued: {
    created: 'Su nuevo endpoint de webhook',
    rotated: origin => `El nuevo secreto de ${origin}`,
    lead: 'El secreto solo se muestra ahora. Guárdelo donde su servidor lee sus secretos.',
    rotatedLead: hours =>
      `El secreto solo se muestra ahora. Los eventos se firman también con el anterior durante ${counted(hours, 'hora', 'horas')} más: instale el nuevo antes de que pasen.`,
    secret: 'Secreto',
    environment: 'Como variable de entorno',
  },
  done: {
    title: 'Esto ya se hizo',
    text: 'El formulario ya se había enviado. Su secreto se mostró entonces y no se puede volver a mostrar: si nadie lo guardó, rótelo.',
  },

  facts: {
    url: 'URL',
    types: 'Recibe',
    secret: 'Secreto desde',
    formerSecret: 'El secreto anterior firma hasta',
    created: 'Agregado',
    disabled: 'Desactivado',
    id: 'ID del endpoint',
  },
  failing: givenUpAt =>
    `No se ha podido entregar nada desde hace una hora o más. ${
      givenUpAt === null
        ? ''
        : `Se renuncia al evento más antiguo hacia el ${minuteOf(givenUpAt)}. `
    }Mire abajo los últimos intentos, corrija lo que indican y reenvíe lo que falló. Los fallos por sí solos no desactivan ningún endpoint; una respuesta 410 sí.`,
  disabled: reason => `Este endpoint está desactivado, y no se le envía nada. ${reason}`,

  test: {
    title: 'Probar',
    text: 'Envía un evento firmado de un pago que no existe y muestra la respuesta. No se repite.',
    submit: 'Enviar una prueba',
    result: 'Resultado de la prueba',
    received: 'Su servidor aceptó el evento.',
    gone: 'Ante un evento real, esta respuesta desactivaría el endpoint.',
  },
  rotation: {
    title: 'Rotar el secreto',
    text: hours =>
      `Los eventos se firman de inmediato con el nuevo secreto, y también con el anterior durante ${counted(hours, 'hora', 'horas')} más.`,
    submit: 'Rotar',
    question: origin => `¿Rotar el secreto de ${origin}?`,
    signsUntil: until =>
      html`El endpoint recibe un nuevo secreto, que se muestra una sola vez. El anterior firma también hasta el ${until}, y a partir de entonces ya no.`,
  },
  disablings,
  disabling: {
    title: 'Desactivar',
    text: 'Al endpoint ya no se le envía nada, y lo que tiene pendiente queda cancelado hasta que se active de nuevo.',
    submit: 'Desactivar este endpoint',
    question: origin => `¿Desactivar ${origin}?`,
    waiting: (deliveries, most) =>
      deliveries === 0
        ? 'No tiene ningún evento pendiente.'
        : `Tiene ${countedUpTo(deliveries, most, 'evento pendiente, que se cancelará', 'eventos pendientes, que se cancelarán')}.`,
    stops: types => html`Estos eventos ya no se le envían: ${types}.`,
    undone:
      'Al activarlo se vuelve a poner en cola lo que se cancela ahora. Los eventos que ocurran entretanto no se envían.',
    disabled: origin => `Desactivado: a ${origin} ya no se le envía nada.`,
    undo: 'Deshacer',
  },
  enabling: {
    title: 'Activar',
    text: 'El endpoint recibe los eventos a partir de entonces, y los que se cancelaron al desactivarlo. Lo que ocurrió entretanto no se envía.',
    submit: 'Activar este endpoint',
    enabled: (origin, deliveries, hasMore) =>
      `Activado: ${origin} vuelve a recibir eventos.${deliveries > 0 ? ` ${counted(deliveries, 'evento vuelve', 'eventos vuelven')} a la cola.` : ''}${hasMore ? ' Hay más: reenvíe lo que falló para el resto.' : ''}`,
  },

  deliveries: {
    title: 'Entregas',
    none: 'Aún no hay ninguna. Cada evento de los tipos de arriba genera una.',
    noMatch: 'Ninguna entrega coincide.',
    columns: {
      time: 'Hora',
      event: 'Evento',
      outcome: 'Resultado',
      attempts: 'Intentos',
    },
    outcome: 'Resultado',
    outcomes: {
      pending: 'pendiente',
      succeeded: 'completada',
      failed: 'fallida',
      cancelled: 'cancelada',
      withheld: 'retenida',
    },
    httpStatus: status => `HTTP ${status}`,
    errors: {
      'private-address': 'dirección no pública',
      'plain-http': 'no es https',
      secret: 'no se puede abrir el secreto',
      timeout: 'sin respuesta a tiempo',
      'certificate-expired': 'certificado vencido',
      'certificate-name': 'certificado para otro nombre',
      'certificate-unknown': 'certificado no reconocido',
      tls: 'falló TLS',
      'no-name': 'nombre desconocido',
      'name-server': 'fallaron los servidores de nombres',
      'closed-port': 'conexión rechazada',
      unreachable: 'inaccesible',
      'hung-up': 'conexión cerrada',
      'not-http': 'la respuesta no es HTTP',
      other: 'sin respuesta',
    },
  },

  redelivery: {
    title: 'Reenviar lo que falló',
    text: most =>
      `Envía de nuevo lo que se creó desde una hora dada y ha fallado definitivamente o se canceló, como máximo ${most}, lo más antiguo primero. Se omite un evento que ya se reenvió desde entonces.`,
    since: 'Desde (UTC)',
    submit: 'Reenviar todo lo fallido',
    noTime: 'Escriba una fecha y una hora.',
    future: 'Escriba una hora que ya haya pasado.',
    redelivered: (deliveries, hasMore) =>
      deliveries === 0
        ? 'Desde entonces no ha fallado nada.'
        : `${counted(deliveries, 'evento se envía', 'eventos se envían')} de nuevo.${hasMore ? ' Hay más: reenvíe otra vez para el resto.' : ''}`,
    sentAgain: 'Reenviado. Esta es la nueva entrega.',
    one: 'Reenviar',
    oneText: 'Envía de nuevo el mismo evento, con intentos propios.',
    instead:
      'Envía de nuevo el mismo evento, con intentos propios. Los intentos de esta entrega terminan.',
  },

  delivery: {
    title: 'Entrega',
    facts: {
      eventId: 'ID del evento (webhook-id)',
      payment: 'Pago',
      endpoint: 'Endpoint',
      made: 'Creada',
      next: 'Próximo intento',
      ended: 'Terminada',
      repeats: 'Repite',
      repeatedAs: 'Reenviada como',
      id: 'ID de la entrega',
    },
    otherDelivery: 'otra entrega',
    withheld:
      'El servicio se restauró a partir de una copia de seguridad, y puede que ya haya recibido este evento. Reenvíelo si no es así.',
    attempts: 'Intentos',
    noAttempt: 'Aún no hay ninguno.',
    attempt: number => `Intento ${number}`,
    took: milliseconds => `después de ${milliseconds} ms`,
    noExcerpts:
      'Lo que respondió el servidor se muestra a los admins del comercio: puede repetir la URL.',
    excerpt: 'Comienzo de la respuesta',
    empty: 'La respuesta estaba vacía.',
    payload: 'Contenido',
    payloadText:
      'Los espacios y saltos de línea se agregan para facilitar la lectura. El archivo tiene exactamente los bytes que se firman y se envían.',
    download: 'Descargar el contenido',
  },

  problems: {
    'private-address':
      'El nombre lleva a una dirección que no es pública. Los webhooks solo se envían a direcciones públicas: corrija el registro DNS, o use otro host.',
    'plain-http': 'La URL no es https. Agregue un endpoint con una URL https.',
    secret:
      'El servicio no puede abrir el secreto de firma de este endpoint. Avise al operador; el evento se envía cuando se corrija.',
    timeout:
      'No hubo respuesta a tiempo. Responda antes de procesar el evento, y compruebe que ningún firewall corta la conexión.',
    'certificate-expired':
      'El certificado ha vencido, o aún no es válido. Renuévelo, y compruebe que el servidor ha cargado el nuevo.',
    'certificate-name':
      'El certificado es para otro nombre. Obtenga uno que tenga el host de la URL, o use el host que indica.',
    'certificate-unknown':
      'El certificado no es de una autoridad conocida, o el servidor omite el intermedio. Instale la cadena completa; no se acepta un certificado autofirmado.',
    tls: 'No se pudo acordar TLS. Compruebe que este puerto habla TLS 1.2 o posterior.',
    'no-name':
      'El nombre no tiene dirección. Compruebe cómo está escrito el host y sus registros DNS.',
    'name-server':
      'Los servidores de nombres del host no respondieron, o fallaron. Revíselos con su proveedor de DNS.',
    'closed-port':
      'El servidor rechazó la conexión. Compruebe que está en marcha y que escucha en el puerto de la URL.',
    unreachable:
      'No hay camino hasta la dirección. Compruebe el enrutamiento y el firewall de su servidor.',
    'hung-up':
      'La conexión se cerró antes de una respuesta. Mire el registro de su servidor, o del proxy que tiene delante.',
    'not-http': 'La respuesta no es HTTP. Compruebe el puerto de la URL.',
    redirect: 'No se siguen redirecciones. Use la URL a la que lleva.',
    'not-authorized':
      'El servidor pide iniciar sesión, o prohíbe la solicitud. Deje pasar las solicitudes a esta URL y verifique su firma en su lugar.',
    'not-found':
      'El servidor no tiene nada en esta URL que acepte un POST. Compruebe la ruta y el método.',
    gone: 'El servidor indicó que esto ya no existe, lo que desactiva el endpoint.',
    'too-large': 'El servidor no acepta un cuerpo de este tamaño. Aumente su límite.',
    busy: 'El servidor no acepta más en este momento. Se intenta de nuevo; aumente el límite si esto continúa.',
    refused:
      'El servidor rechazó el evento. Si se debe a una firma incorrecta, verifique los bytes originales con el secreto de este mismo endpoint.',
    broken: 'El servidor falló. Mire su registro a la hora del intento.',
    other: 'No hubo respuesta.',
  },
};
