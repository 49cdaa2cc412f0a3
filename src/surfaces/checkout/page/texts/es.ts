import { html } from '../../../pages/html.ts';
import type { CheckoutTexts } from './en.ts';

export const es: CheckoutTexts = {
  merchant: 'la tienda',
  simulation: 'Simulación: los pagos se pueden marcar como pagados sin dinero.',
  test: 'Prueba: sin dinero real.',
  orderReference: 'Pedido',
  payment: 'Pago',
  request: 'Solicitud',
  language: 'Idioma',
  opensNewTab: 'abre una pestaña nueva',
  fee: (order, fee) => `Pedido ${order} + comisión de servicio ${fee}`,
  testBadge: 'Red de prueba: monedas sin valor',

  titles: {
    choose: (total, merchant) => `Pague ${total} a ${merchant}`,
    waiting: (amount, merchant) => `Envíe ${amount} · ${merchant}`,
    overdue: merchant => `Tiempo agotado · ${merchant}`,
    confirming: merchant => `Pago detectado · ${merchant}`,
    paid: merchant => `Pagado · ${merchant}`,
    unsuccessful: merchant => `Pago no completado · ${merchant}`,
    expired: merchant => `Tiempo agotado · ${merchant}`,
    cancelled: merchant => `Pago cancelado · ${merchant}`,
  },

  announcements: {
    choose: 'Elija cómo pagar.',
    lapsed: 'El precio ya no es válido. Elija de nuevo cómo pagar.',
    waiting: 'Esperando su pago.',
    awaited: 'La cantidad enviada es insuficiente. No envíe nada más por ahora.',
    underpaid: 'La cantidad recibida es insuficiente. Lea el aviso.',
    reversed: 'La red ha anulado su transferencia.',
    overdue: 'El tiempo se ha agotado. No envíe nada más.',
    confirming: 'Su pago se ha detectado y se está confirmando.',
    paid: (total, merchant) => `Pagado: ${total} a ${merchant}.`,
    unsuccessful: 'El pago no se ha completado.',
    expired: 'El plazo del pago ha vencido.',
    cancelled: 'El pago se ha cancelado.',
  },

  choose: {
    title: 'Elija cómo pagar',
    ways: 'Formas de pago',
    otherWays: 'Otras formas de pago',
    nothing: merchant =>
      `En este momento no hay ninguna forma de pago disponible. Inténtelo más tarde o comuníquese con ${merchant}.`,
    lapsed: merchant =>
      `El precio que le habíamos reservado ya no es válido. No envíe nada a la dirección que se mostraba: elija de nuevo para obtener un precio nuevo. Si ya ha enviado algo, comuníquese con ${merchant}.`,
    lapsedParts:
      'El precio que le habíamos reservado ya no es válido: elija de nuevo para obtener un precio nuevo. Lo que ha enviado cuenta si vuelve a elegir su red.',
    chooseBefore: time => html`Hora límite para elegir: ${time}`,
    windows:
      'Al elegir, se fija el precio y comienza un nuevo plazo para pagar: se indica junto a cada forma de pago.',
    window: duration => `${duration} para pagar`,
    unavailable: 'no disponible en este momento',
    test: 'Prueba',
    search: 'Buscar monedas y redes',
    noMatch: 'Ninguna moneda o red se llama así.',
    networkFees: {
      upTo: amount => `comisión de red normalmente inferior a ${amount}`,
      high: 'la comisión de red puede ser de varios dólares',
    },
  },

  waiting: {
    title: amount => `Envíe ${amount}`,
    titleMore: amount => `Envíe ${amount} más`,
    on: network => `en la red ${network}`,
    payBefore: time => html`Hora límite para pagar: ${time}`,
    amount: 'Cantidad exacta',
    address: 'Dirección',
    price: 'Precio',
    rate: (rate, since) => html`${rate} (fijado: ${since})`,
    openWallet: 'Abrir billetera',
    qrOfBoth: 'Código QR con la dirección y la cantidad',
    qrOfAddress: 'Código QR con la dirección',
    refusedCode: '¿Su billetera rechaza el código?',
    plainCode:
      'Este código y este enlace contienen solo la dirección y la cantidad. Envíe exactamente la cantidad que se muestra.',
    warning: (amount, network) =>
      html`Envíe exactamente ${amount} en la red ${network}, en una sola transferencia. Si envía otra cantidad, otra moneda o por otra red, su dinero puede perderse. La comisión de red de su billetera se paga aparte.`,
    ownAddress: (amount, network) =>
      html`Envíe ${amount} en la red ${network}. Esta dirección es solo para este pago: puede enviarlo en varias transferencias. Si envía otra moneda o por otra red, su dinero puede perderse. La comisión de red de su billetera se paga aparte.`,
    progress: 'Esperando su pago.',
    notFinal: 'Aún no es definitivo.',
    live: 'Esta página se actualiza sola.',
    checkAgain: 'Comprobar de nuevo',
    copy: 'Copiar',
    copyAmount: 'Copiar la cantidad',
    copyAddress: 'Copiar la dirección',
    copyTransaction: 'Copiar la transacción',
    delayed: network =>
      `En este momento, las transferencias en la red ${network} se detectan con retraso. La suya cuenta si se envió a tiempo.`,
    awaitedTitle: 'La cantidad enviada es insuficiente',
    awaited: amount =>
      `Su transferencia se ha detectado y es inferior a ${amount}. No envíe nada más por ahora: cuando la transferencia sea definitiva, esta página mostrará lo que falta por pagar.`,
    tooLittle: 'La cantidad recibida es insuficiente.',
    rest: amount =>
      `Para completar el pago, envíe exactamente ${amount} más, en una sola transferencia y a tiempo.`,
    ownRest: amount => `Para completar el pago, envíe ${amount} más a tiempo.`,
    restRaised: 'Es más de lo que falta: los monederos no envían menos.',
    asked: 'Solicitado',
    received: 'Recibido',
    due: 'Falta por pagar',
    noRest: (amount, merchant) =>
      `Los pagos parciales no se suman: envíe la cantidad exacta de ${amount} en una sola transferencia y comuníquese con ${merchant} acerca de lo que ya ha enviado.`,
    partsElsewhere: amount =>
      `Lo que ha enviado cuenta si vuelve a elegir su red. En esta, envíe la cantidad exacta de ${amount} en una sola transferencia.`,
    reversed: network => `La red ${network} ha anulado su transferencia.`,
    sendAgain: 'Si los fondos están de nuevo en su billetera, envíelos otra vez.',
  },

  confirmations: {
    unmined: 'Detectada, a la espera de un bloque.',
    blocks: (blocks, required) => `Bloques: ${blocks} de ${required}.`,
    finality: duration =>
      `En un bloque, a la espera de la confirmación definitiva de la red, normalmente alrededor de ${duration}.`,
  },

  outcome: {
    paidTitle: 'Pagado',
    paid: merchant => `Su pago a ${merchant} se ha recibido. Gracias.`,
    confirmingTitle: 'Pago detectado',
    confirming: network =>
      `Su transferencia se ha detectado y la red ${network} la está confirmando. No tiene que hacer nada más; puede cerrar esta página.`,
    overdueTitle: 'Tiempo agotado',
    overdue: 'No envíe nada más. Estamos comprobando si llegó un pago en el último momento.',
    overdueDelayed: network =>
      `No envíe nada más. En este momento, las transferencias en la red ${network} se detectan con retraso y este pago aún se está comprobando: su transferencia cuenta si se envió a tiempo.`,
    expired:
      'No llegó ningún pago a tiempo. No envíe nada a la dirección que se mostraba: ya nadie espera un pago allí.',
    cancelledTitle: 'Pago cancelado',
    cancelled: 'No hay nada que pagar. No envíe nada a ninguna dirección que se haya mostrado.',
    unsuccessfulTitle: 'Pago no completado',
    failures: {
      underpaid: 'Antes de que se agotara el tiempo, llegó menos de lo solicitado.',
      reverted: network => `La transacción falló en la red ${network}.`,
      other: 'No se pudo completar el pago.',
    },
    nextTitle: 'Qué puede hacer',
    startAgain: merchant => `Si aún quiere pagar, vuelva a ${merchant} y empiece de nuevo.`,
    sentAlready: merchant =>
      `Si ya ha enviado algo, comuníquese con ${merchant} e indique el pago que figura abajo y la transacción de su billetera.`,
    settle: merchant =>
      `Comuníquese con ${merchant} acerca de lo que ha enviado e indique el pago que figura abajo.`,
    contact: contact => html`Contacto: ${contact}`,
    transaction: 'Transacción',
    explorer: host => `Ver en ${host}`,
    returnTo: merchant => `Volver a ${merchant}`,
    returning: seconds => html`Volverá en ${seconds}\u00a0s.`,
    stay: 'Quedarse aquí',
  },

  receipt: {
    title: 'Recibo',
    to: 'Pagado a',
    total: 'Importe',
    sent: 'Enviado',
    network: 'Red',
    price: 'Precio',
    when: 'Fecha y hora',
    print: 'Imprimir',
  },

  transfers: {
    title: 'Lo que ha llegado',
    earlier: count => `Transferencias anteriores que no figuran aquí: ${count}.`,
    excess: amount => `En total, ${amount} más de lo solicitado.`,
    seenAt: time => html`Detectada: ${time}`,
    states: {
      seen: 'Aún no es definitiva',
      final: 'Definitiva',
      reversed: 'Anulada',
      failed: 'Fallida',
    },
    countedFor: {
      whole: 'Paga este pedido por completo.',
      tolerated: 'Un poco menos de lo solicitado, pero se acepta: paga este pedido por completo.',
      over: 'Más de lo solicitado: paga este pedido por completo.',
      assigned: 'Asignada a este pedido a mano.',
      first: 'La primera parte de este pedido. Aún falta el resto.',
      completed: 'La primera parte de este pedido.',
      rest: 'El resto: completa este pedido.',
      elsewhere: 'Menos de lo solicitado. Cuenta si vuelve a elegir su red.',
      too_little: 'Menos de lo solicitado.',
      late: 'Llegó demasiado tarde para este pago.',
      former: 'Para un importe que se pidió antes y cuyo precio ya no estaba garantizado.',
      again: 'Llegó cuando este pago ya estaba pagado.',
      unclear: 'Se está comprobando para qué era.',
      undone: 'La red ha anulado esta transferencia: no cuenta.',
      failed: 'La transacción falló: no ha llegado nada.',
    },
    became: {
      waits: merchant => `No contó. Comuníquese con ${merchant} e indique esta transacción.`,
      settled: merchant =>
        `No contó, y ${merchant} ya se ha ocupado de ello. Comuníquese con ${merchant} al respecto.`,
      returned: 'Se devolvió con esta transacción:',
    },
  },

  options: {
    change: 'Pagar de otra forma',
    changeWarning:
      'No cambie si ya ha enviado algo a la dirección de arriba: su envío ya no se reconocería.',
    cancel: 'Cancelar el pago',
    cancelWarning: 'No cancele si ya ha enviado algo: su envío ya no se reconocería.',
    confirmCancel: 'Sí, cancelar este pago',
    simulate: 'Simular (no en producción)',
  },

  lookUp: {
    title: '¿Ya lo envió? Búsquelo',
    label: 'Hash de transacción de su billetera',
    button: 'Buscar',
    shapes: {
      hex: '64 cifras y letras de la «a» a la «f»',
      prefixed: '0x y 64 cifras y letras de la «a» a la «f»',
      base58: '87 u 88 letras y cifras',
    },
    unreadable: (network, shape) =>
      `Esto no es un hash de transacción de la red ${network}: los hashes de esa red constan de ${shape}. Cópielo del historial de su billetera y compruebe que su billetera hizo el envío en la red ${network}.`,
    unknown: network =>
      `Aún no hemos visto esta transacción en la red ${network}. Puede tardar unos minutos. Compruebe que su billetera la envió en la red ${network} y a la dirección de este pago.`,
    seen: network => `Hemos visto esta transacción en la red ${network}.`,
    notFinal: 'Aún no es definitiva.',
    paid: 'Con esta transacción se ha pagado su pedido.',
    less: merchant =>
      `Esta transacción ha llegado, pero es inferior a la cantidad solicitada. Comuníquese con ${merchant} para resolverlo.`,
    reversed: network =>
      `Vimos esta transacción, pero la red ${network} la ha anulado. Compruebe en su billetera si los fondos han vuelto.`,
    failed: network => `Esta transacción falló en la red ${network}: no se transfirió nada.`,
    notFound: network =>
      `La red ${network} no conoce esta transacción. Una transacción nueva puede tardar un minuto en conocerse. Compruebe que su billetera la ha enviado y que lo hizo en la red ${network}.`,
    pending: network =>
      `La red ${network} conoce esta transacción, que está a la espera de un bloque. Contará cuando esté en un bloque, si envía la cantidad exacta a la dirección de este pago.`,
    included: network =>
      `Esta transacción está en un bloque de la red ${network} y envía fondos a la dirección de este pago.`,
    counted: 'Se tendrá en cuenta en breve: no hay que hacer nada más.',
    replaced:
      'Otra transacción ha ocupado el lugar de esta. Busque en el historial de su billetera la que la reemplazó.',
    tooLittle: merchant =>
      `Esta transacción envía fondos a la dirección de este pago, pero menos de lo solicitado. Comuníquese con ${merchant} para resolverlo.`,
    tooLate: merchant =>
      `Esta transacción envía fondos a la dirección de este pago, pero llegó demasiado tarde. Comuníquese con ${merchant} e indique este hash.`,
    tooEarly: 'Esta transacción es anterior a este pago, así que no puede corresponderle.',
    otherAsset: (asset, network, merchant) =>
      `Esta transacción envió a la dirección de este pago algo distinto de ${asset} en la red ${network}. No sirvió para realizar este pago. Comuníquese con ${merchant} e indique este hash.`,
    otherAddress: network =>
      `Esta transacción está en la red ${network}, pero no envió nada a la dirección de este pago. Compare la dirección del historial de su billetera con la que se mostró aquí.`,
    untraceable: merchant =>
      `Es posible que esta transacción haya enviado fondos a la dirección de este pago mediante un contrato, algo que no se puede rastrear desde aquí. Hemos avisado a ${merchant}, que lo revisará.`,
    elsewhere: merchant =>
      `Esta transacción nos ha llegado, pero no contó para este pago: llegó demasiado tarde, era de otra cantidad o pertenece a otro pago. Comuníquese con ${merchant} e indique este hash.`,
  },

  refusals: {
    unavailable:
      'Esta red no está disponible en este momento. Elija otra o inténtelo de nuevo en un minuto.',
    network: reason => `No se eligió la red: ${reason}.`,
    cancel: reason => `El pago no se canceló: ${reason}.`,
    simulate: reason => `Esto no se puede simular: ${reason}.`,
    reasons: {
      choose: 'esta opción no se ofrece para este pago',
      waiting: 'esta opción no se ofrece para este pago',
      overdue: 'el tiempo de este pago se ha agotado',
      confirming: 'ya se ha detectado una transferencia',
      paid: 'este pago ya se ha realizado',
      unsuccessful: 'este pago ha finalizado',
      expired: 'el tiempo de este pago se ha agotado',
      cancelled: 'este pago se ha cancelado',
    },
  },

  failures: {
    malformed: {
      title: 'No se puede leer esta solicitud',
      text: 'Vuelva a la página de pago, recárguela e inténtelo de nuevo.',
    },
    tooLarge: {
      title: 'Esta solicitud es demasiado grande',
      text: 'Su navegador envía demasiados datos con ella, probablemente cookies. Elimine las cookies de este sitio y abra el enlace de nuevo.',
    },
    conflict: {
      title: 'Esto ya no es posible',
      text: 'El estado del pago ha cambiado. Vuelva a su página y recárguela.',
    },
    missing: {
      title: 'Esta página de pago no existe',
      text: 'Compruebe que se copió el enlace completo, o vuelva a la tienda y empiece de nuevo.',
    },
    unavailable: {
      title: 'No disponible en este momento',
      text: 'Inténtelo de nuevo en un minuto. No envíe un pago por segunda vez.',
    },
    tooMany: {
      title: 'Demasiadas solicitudes',
      text: 'Espere un minuto y recargue la página.',
    },
    broken: {
      title: 'Algo ha fallado por nuestra parte',
      text: 'Inténtelo de nuevo en un minuto. No envíe un pago por segunda vez.',
    },
  },

  script: {
    leftToChoose: 'Tiempo para elegir: {0}',
    leftToPay: 'Tiempo para pagar: {0}',
    timeIsUp: 'Tiempo agotado',
    offline: 'No tiene conexión. Esta página continuará cuando la recupere.',
    unreachable: 'No se puede acceder al servicio de pago. Intentándolo de nuevo…',
    copied: 'Copiado',
    pressCopy: 'Use el atajo de teclado para copiarlo.',
  },
};
