import type { PanelTexts } from '../panel-texts.ts';
import { meanings } from './error-meanings.ts';
import { counted } from './formats.ts';

export const requests: PanelTexts['requests'] = {
  title: 'Registro de solicitudes',
  lead: 'Lo que falló y lo que se creó con sus claves de API, sin encabezados ni cuerpos.',
  empty: (kept, days, most) =>
    kept === 'off'
      ? 'El servicio no guarda solicitudes: su operador ha desactivado el registro de solicitudes.'
      : `Aún no hay solicitudes. ${kept === 'all' ? 'Cada solicitud' : 'Cada solicitud que falla, y cada creación,'} se guarda ${counted(days, 'día', 'días')} o más, como máximo ${most} por cuenta. Tarda uno o dos segundos en aparecer aquí.`,
  noneMatch: 'Ninguna solicitud coincide.',
  table: 'Solicitudes',
  time: 'Hora',
  status: 'Estado',
  error: 'Error',
  request: 'Solicitud',
  key: 'Clave',
  took: 'Duración',
  payment: 'Pago',
  address: 'Dirección',
  parameter: 'Parámetro',
  replayed: 'Repetida',
  replayedText: 'la respuesta guardada con su Idempotency-Key',
  id: 'ID de la solicitud',
  counted: 'Contadas',
  minuteFrom: 'Minuto desde',
  countedText: requests =>
    `${counted(requests, 'solicitud', 'solicitudes')} con esta clave y este error en este minuto; esta es una de ellas. Su firma no era válida, así que quien las envió quizá solo conozca el ID de la clave.`,
  milliseconds: value => `${value} ms`,
  times: value => `× ${value}`,
  signature: 'La firma',
  notExplained: seconds =>
    `No se ha examinado: de cada clave se examina una cada ${counted(seconds, 'segundo', 'segundos')}. Envíe la solicitud de nuevo, o explique la firma usted.`,
  explainThis: 'Explicar una firma de esta solicitud',
  errorsTitle: days => `Errores de los últimos ${counted(days, 'día', 'días')}`,
  errorsTable: 'Errores',
  meaning: 'Significado',
  meanings,
  requestsCount: 'Solicitudes',
  noErrors: 'Ninguno.',
  lastTitle: 'Últimas solicitudes',
  lastEmpty: 'No se guarda ninguna.',
  more: 'Todas en el registro de solicitudes',
  explain: {
    title: 'Explicar una firma',
    lead: 'Encuentra el error detrás de una firma incorrecta (E2007). No se guarda nada de lo que se escribe, y no se muestra ningún secreto ni ninguna firma.',
    key: 'Clave',
    method: 'Método',
    url: 'URL o ruta con su consulta',
    urlHint: 'Exactamente como se envió.',
    body: 'Cuerpo',
    bodyHint: 'Exactamente como se envió; vacío si no lo hay.',
    timestamp: 'X-MP-TIMESTAMP',
    nonce: 'X-MP-NONCE',
    signature: 'X-MP-SIGNATURE',
    submit: 'Explicar',
    noKey: 'No tiene ninguna clave que funcione.',
    createKey: 'Crear una clave',
    busy: 'En este momento se explican muchas firmas. Inténtelo de nuevo en un momento.',
    chooseKey: 'Elija una clave que no esté revocada.',
    badMethod: 'Escriba un método, como GET o POST.',
    badUrl: 'Escriba una ruta con su consulta, como /external/v1/payments, o una URL.',
    result: 'Resultado',
    matches: 'La firma coincide.',
    matchesMore: seconds =>
      `Firmada así, una solicitud se acepta si su marca de tiempo difiere de la hora en ${counted(seconds, 'segundo', 'segundos')} como máximo y su nonce es nuevo.`,
    unreadable:
      'La firma no es un digest. Envíe X-MP-SIGNATURE como 64 dígitos hexadecimales en minúsculas y nada más.',
    madeWith: made => `Se hizo con ${made}.`,
    notFound: 'La firma no coincide, y ninguno de los errores habituales lo explica.',
    tried: 'Lo que se probó, cada cosa por separado:',
    compare:
      'Compare lo que firma con lo que envía, byte por byte, y el secreto con el que se entregó junto con la frase de contraseña.',
  },
};
