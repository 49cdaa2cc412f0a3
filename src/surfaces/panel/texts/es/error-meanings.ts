import type { PanelTexts } from '../panel-texts.ts';

/** What the errors of the API mean. */
export const meanings: PanelTexts['requests']['meanings'] = {
  E1000:
    'La solicitud está mal formada: su cuerpo no es JSON legible, no se envió como application/json, está vacío o es demasiado grande.',
  E1001: 'Un parámetro es de otro tipo, está fuera de rango o contradice a otro.',
  E1002: 'El cuerpo o la consulta tiene un campo que esta ruta no conoce.',
  E1010:
    'Se indicó una redirectUrl, pero el comercio no tiene ningún dominio de retorno permitido.',
  E1011: 'La redirectUrl no es una URL válida, contiene datos de usuario o no es https.',
  E1012:
    'El nombre de host de la redirectUrl no es uno de los dominios de retorno permitidos del comercio.',
  E1020:
    'Una red solicitada no tiene dirección de depósito en la sucursal principal o, sin blockchainIds, no la tiene ninguna de las que se ofrecen.',
  E1030: 'Al comercio le falta configuración necesaria, por ejemplo una sucursal principal.',
  E1040: 'La solicitud contradice el estado actual del recurso.',
  E2001:
    'Falta una cabecera de la firma, o el nonce no tiene de 1 a 255 caracteres ASCII visibles.',
  E2002: 'X-MP-TIMESTAMP no es un tiempo Unix entero en segundos.',
  E2003: 'X-MP-TIMESTAMP se aparta más de 300 segundos de la hora del servidor.',
  E2004: 'No se conoce el ID de la clave, o la frase de contraseña no es la de esta clave.',
  E2005: 'La clave se revocó para siempre.',
  E2006: 'La clave ha vencido.',
  E2007:
    'La firma no coincide: la ruta, la consulta o el cuerpo que se firmó difiere de lo enviado, o el secreto es otro.',
  E2008: 'Falta la cuenta o está inactiva, o la ruta no acepta esta clase de clave.',
  E2009: 'El nonce ya se usó con esta clave.',
  E2101: 'La clave no tiene el permiso que pide la ruta.',
  E2102: 'La cuenta de comercio de EE. UU. aún no está aprobada.',
  E2103:
    'Un comercio vinculado a un socio usó su propia clave mientras el socio está inactivo o tiene desactivados los pagos por API en autoservicio.',
  E3001: 'No existe tal recurso para esta cuenta.',
  E4001:
    'La cabecera Idempotency-Key está en blanco, tiene más de 255 caracteres o se envió dos veces.',
  E4002:
    'La clave de idempotencia se usó con otro cuerpo; cuentan los espacios y el orden de los campos.',
  E4003: 'La solicitud original con esta clave de idempotencia aún está en curso.',
  E5001: 'El servicio falló.',
  E5002: 'Algo que el servicio necesita no está disponible; no se ejecutó nada.',
  E9001: 'Demasiadas solicitudes en la ventana actual.',
};
