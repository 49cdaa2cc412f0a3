import { html } from '../../../pages/html.ts';
import type { CheckoutTexts } from './en.ts';

export const de: CheckoutTexts = {
  merchant: 'das Geschäft',
  simulation: 'Simulation: Zahlungen lassen sich ohne Geld als bezahlt markieren.',
  test: 'Test: kein echtes Geld.',
  orderReference: 'Bestellung',
  payment: 'Zahlung',
  request: 'Anfrage',
  language: 'Sprache',
  opensNewTab: 'öffnet einen neuen Tab',
  fee: (order, fee) => `Bestellung ${order} + Servicegebühr ${fee}`,
  testBadge: 'Testnetzwerk: Coins ohne Wert',

  titles: {
    choose: (total, merchant) => `${total} an ${merchant} zahlen`,
    waiting: (amount, merchant) => `${amount} senden · ${merchant}`,
    overdue: merchant => `Zeit abgelaufen · ${merchant}`,
    confirming: merchant => `Zahlung erkannt · ${merchant}`,
    paid: merchant => `Bezahlt · ${merchant}`,
    unsuccessful: merchant => `Zahlung nicht erfolgreich · ${merchant}`,
    expired: merchant => `Zeit abgelaufen · ${merchant}`,
    cancelled: merchant => `Zahlung abgebrochen · ${merchant}`,
  },

  announcements: {
    choose: 'Wählen Sie, wie Sie bezahlen möchten.',
    lapsed: 'Der Preis gilt nicht mehr. Wählen Sie noch einmal, wie Sie bezahlen möchten.',
    waiting: 'Wir warten auf Ihre Zahlung.',
    awaited: 'Es wurde zu wenig gesendet. Bitte senden Sie jetzt nichts mehr.',
    underpaid: 'Es ist zu wenig angekommen. Bitte lesen Sie den Hinweis.',
    reversed: 'Das Netzwerk hat Ihre Transaktion rückgängig gemacht.',
    overdue: 'Die Zeit ist abgelaufen. Senden Sie nichts mehr.',
    confirming: 'Ihre Zahlung wurde erkannt und wird bestätigt.',
    paid: (total, merchant) => `Bezahlt: ${total} an ${merchant}.`,
    unsuccessful: 'Die Zahlung war nicht erfolgreich.',
    expired: 'Die Zahlung ist abgelaufen.',
    cancelled: 'Die Zahlung wurde abgebrochen.',
  },

  choose: {
    title: 'Wählen Sie, wie Sie bezahlen',
    ways: 'Zahlungsarten',
    otherWays: 'Andere Zahlungsarten',
    nothing: merchant =>
      `Zurzeit ist keine Zahlungsart verfügbar. Bitte versuchen Sie es später noch einmal, oder kontaktieren Sie ${merchant}.`,
    lapsed: merchant =>
      `Der für Sie reservierte Preis gilt nicht mehr. Senden Sie nichts an die Adresse, die angezeigt wurde: Wählen Sie noch einmal, um einen neuen Preis zu erhalten. Wenn Sie schon etwas gesendet haben, kontaktieren Sie ${merchant}.`,
    lapsedParts:
      'Der für Sie reservierte Preis gilt nicht mehr: Wählen Sie noch einmal, um einen neuen Preis zu erhalten. Was Sie gesendet haben, zählt, wenn Sie dasselbe Netzwerk wieder wählen.',
    chooseBefore: time => html`Wählen Sie bis ${time}`,
    windows:
      'Mit Ihrer Wahl steht der Preis fest, und eine neue Zahlungsfrist beginnt: Sie steht neben jeder Zahlungsart.',
    window: duration => `${duration} zum Bezahlen`,
    unavailable: 'zurzeit nicht verfügbar',
    test: 'Test',
    search: 'Coins und Netzwerke suchen',
    noMatch: 'Kein Coin oder Netzwerk heißt so.',
    networkFees: {
      upTo: amount => `Netzwerkgebühr meist unter ${amount}`,
      high: 'Netzwerkgebühr kann mehrere Dollar betragen',
    },
  },

  waiting: {
    title: amount => `Senden Sie ${amount}`,
    titleMore: amount => `Senden Sie noch ${amount}`,
    on: network => `im Netzwerk ${network}`,
    payBefore: time => html`Bezahlen Sie bis ${time}`,
    amount: 'Genauer Betrag',
    address: 'Adresse',
    price: 'Preis',
    rate: (rate, since) => html`${rate}, festgelegt um ${since}`,
    openWallet: 'Wallet öffnen',
    qrOfBoth: 'QR-Code mit Adresse und Betrag',
    qrOfAddress: 'QR-Code mit der Adresse',
    refusedCode: 'Ihre Wallet lehnt den Code ab?',
    plainCode:
      'Dieser Code und dieser Link enthalten nur Adresse und Betrag. Senden Sie genau den angezeigten Betrag.',
    warning: (amount, network) =>
      html`Senden Sie genau ${amount} im Netzwerk ${network}, in einer einzigen Transaktion. Bei einem anderen Betrag, Coin oder Netzwerk kann Ihr Geld verloren gehen. Die Netzwerkgebühr Ihrer Wallet kommt noch hinzu.`,
    ownAddress: (amount, network) =>
      html`Senden Sie ${amount} im Netzwerk ${network}. Diese Adresse ist nur für diese Zahlung: Mehrere Transaktionen sind in Ordnung. Bei einem anderen Coin oder Netzwerk kann Ihr Geld verloren gehen. Die Netzwerkgebühr Ihrer Wallet kommt noch hinzu.`,
    progress: 'Wir warten auf Ihre Zahlung.',
    notFinal: 'Noch nicht endgültig.',
    live: 'Diese Seite aktualisiert sich von selbst.',
    checkAgain: 'Erneut prüfen',
    copy: 'Kopieren',
    copyAmount: 'Betrag kopieren',
    copyAddress: 'Adresse kopieren',
    copyTransaction: 'Transaktion kopieren',
    delayed: network =>
      `Transaktionen im Netzwerk ${network} werden zurzeit mit Verzögerung erkannt. Ihre zählt, wenn sie rechtzeitig gesendet wurde.`,
    awaitedTitle: 'Zu wenig gesendet',
    awaited: amount =>
      `Ihre Transaktion wurde erkannt, beträgt aber weniger als ${amount}. Bitte senden Sie jetzt nichts mehr: Sobald die Transaktion endgültig ist, zeigt diese Seite, was noch offen ist.`,
    tooLittle: 'Es ist zu wenig angekommen.',
    rest: amount =>
      `Senden Sie noch genau ${amount}, in einer einzigen Transaktion und rechtzeitig, um Ihre Zahlung abzuschließen.`,
    ownRest: amount => `Senden Sie rechtzeitig noch ${amount}, um Ihre Zahlung abzuschließen.`,
    restRaised: 'Das ist mehr, als fehlt: Weniger senden Wallets nicht.',
    asked: 'Verlangt',
    received: 'Erhalten',
    due: 'Noch offen',
    noRest: (amount, merchant) =>
      `Teilbeträge werden nicht zusammengezählt: Senden Sie den genauen Betrag von ${amount} in einer einzigen Transaktion, und kontaktieren Sie ${merchant} wegen des Betrags, den Sie schon gesendet haben.`,
    partsElsewhere: amount =>
      `Was Sie schon gesendet haben, zählt, wenn Sie dessen Netzwerk wieder wählen. In diesem hier senden Sie den genauen Betrag von ${amount} in einer einzigen Transaktion.`,
    reversed: network => `Das Netzwerk ${network} hat Ihre Transaktion rückgängig gemacht.`,
    sendAgain: 'Wenn das Guthaben wieder in Ihrer Wallet ist, senden Sie es bitte noch einmal.',
  },

  confirmations: {
    unmined: 'Erkannt, wartet auf einen Block.',
    blocks: (blocks, required) => `Blöcke: ${blocks} von ${required}.`,
    finality: duration =>
      `In einem Block, wartet auf die endgültige Bestätigung durch das Netzwerk, meist etwa ${duration}.`,
  },

  outcome: {
    paidTitle: 'Bezahlt',
    paid: merchant => `Ihre Zahlung an ${merchant} ist eingegangen. Vielen Dank.`,
    confirmingTitle: 'Zahlung erkannt',
    confirming: network =>
      `Ihre Transaktion wurde erkannt und wird vom Netzwerk ${network} bestätigt. Sie müssen nichts weiter tun und können diese Seite schließen.`,
    overdueTitle: 'Zeit abgelaufen',
    overdue:
      'Senden Sie nichts mehr. Wir prüfen noch, ob im letzten Moment eine Zahlung eingegangen ist.',
    overdueDelayed: network =>
      `Senden Sie nichts mehr. Transaktionen im Netzwerk ${network} werden zurzeit mit Verzögerung erkannt, und diese Zahlung wird noch geprüft: Ihre Transaktion zählt, wenn sie rechtzeitig gesendet wurde.`,
    expired:
      'Es ist keine Zahlung rechtzeitig eingegangen. Senden Sie nichts an die Adresse, die angezeigt wurde: Dort wartet niemand mehr darauf.',
    cancelledTitle: 'Zahlung abgebrochen',
    cancelled: 'Es ist nichts zu bezahlen. Senden Sie nichts an eine Adresse, die angezeigt wurde.',
    unsuccessfulTitle: 'Zahlung nicht erfolgreich',
    failures: {
      underpaid: 'Bis zum Ablauf der Zeit ist weniger als der verlangte Betrag eingegangen.',
      reverted: network => `Die Transaktion ist im Netzwerk ${network} fehlgeschlagen.`,
      other: 'Die Zahlung konnte nicht abgeschlossen werden.',
    },
    nextTitle: 'Was Sie tun können',
    startAgain: merchant =>
      `Wenn Sie doch noch bezahlen möchten, starten Sie über ${merchant} eine neue Zahlung.`,
    sentAlready: merchant =>
      `Wenn Sie schon etwas gesendet haben, kontaktieren Sie ${merchant} und nennen Sie die unten angegebene Zahlung und die Transaktion aus Ihrer Wallet.`,
    settle: merchant =>
      `Kontaktieren Sie ${merchant} wegen des Betrags, den Sie gesendet haben, und nennen Sie die unten angegebene Zahlung.`,
    contact: contact => html`Kontakt: ${contact}`,
    transaction: 'Transaktion',
    explorer: host => `Auf ${host} ansehen`,
    returnTo: merchant => `Zurück: ${merchant}`,
    returning: seconds => html`Zurück in ${seconds}\u00a0s.`,
    stay: 'Hier bleiben',
  },

  receipt: {
    title: 'Beleg',
    to: 'Bezahlt an',
    total: 'Betrag',
    sent: 'Gesendet',
    network: 'Netzwerk',
    price: 'Preis',
    when: 'Zeitpunkt',
    print: 'Drucken',
  },

  transfers: {
    title: 'Was angekommen ist',
    earlier: count => `Frühere Transaktionen, die nicht aufgeführt sind: ${count}.`,
    excess: amount => `Insgesamt ${amount} mehr als verlangt.`,
    seenAt: time => html`Erkannt: ${time}`,
    states: {
      seen: 'Noch nicht endgültig',
      final: 'Endgültig',
      reversed: 'Rückgängig gemacht',
      failed: 'Fehlgeschlagen',
    },
    countedFor: {
      whole: 'Bezahlt diese Bestellung vollständig.',
      tolerated:
        'Etwas weniger als verlangt, was akzeptiert wird: Diese Bestellung ist damit vollständig bezahlt.',
      over: 'Mehr als verlangt: Diese Bestellung ist damit vollständig bezahlt.',
      assigned: 'Dieser Bestellung von Hand zugeordnet.',
      first: 'Der erste Teil für diese Bestellung. Der Rest ist noch offen.',
      completed: 'Der erste Teil für diese Bestellung.',
      rest: 'Der Rest: Diese Bestellung ist damit vollständig bezahlt.',
      elsewhere: 'Weniger als verlangt. Es zählt, wenn Sie dieses Netzwerk wieder wählen.',
      too_little: 'Weniger als verlangt.',
      late: 'Für diese Zahlung zu spät eingegangen.',
      former: 'Für einen früher genannten Betrag, dessen Preis nicht mehr galt.',
      again: 'Eingegangen, als diese Zahlung schon bezahlt war.',
      unclear: 'Wofür das war, wird noch geprüft.',
      undone: 'Das Netzwerk hat diese Transaktion rückgängig gemacht: Sie zählt nicht.',
      failed: 'Die Transaktion ist fehlgeschlagen: Es ist nichts angekommen.',
    },
    became: {
      waits: merchant =>
        `Es zählte nicht. Kontaktieren Sie ${merchant} und nennen Sie diese Transaktion.`,
      settled: merchant =>
        `Es zählte nicht, und ${merchant} hat sich darum gekümmert. Fragen Sie ${merchant} danach.`,
      returned: 'Es wurde mit dieser Transaktion zurückgesendet:',
    },
  },

  options: {
    change: 'Anders bezahlen',
    changeWarning:
      'Wechseln Sie nicht, wenn Sie schon etwas an die Adresse oben gesendet haben: Das Gesendete würde nicht mehr erkannt.',
    cancel: 'Zahlung abbrechen',
    cancelWarning:
      'Brechen Sie nicht ab, wenn Sie schon etwas gesendet haben: Das Gesendete würde nicht mehr erkannt.',
    confirmCancel: 'Ja, diese Zahlung abbrechen',
    simulate: 'Simulieren (nicht im Produktivbetrieb)',
  },

  lookUp: {
    title: 'Schon gesendet? Transaktion suchen',
    label: 'Transaktions-Hash aus Ihrer Wallet',
    button: 'Suchen',
    shapes: {
      hex: '64 Ziffern und Buchstaben von a bis f',
      prefixed: '0x und 64 Ziffern und Buchstaben von a bis f',
      base58: '87 oder 88 Buchstaben und Ziffern',
    },
    unreadable: (network, shape) =>
      `Das ist kein Transaktions-Hash des Netzwerks ${network}. Ein solcher besteht aus ${shape}. Kopieren Sie ihn aus dem Verlauf Ihrer Wallet, und prüfen Sie, ob Ihre Wallet im Netzwerk ${network} gesendet hat.`,
    unknown: network =>
      `Wir haben diese Transaktion im Netzwerk ${network} noch nicht gesehen. Das kann einige Minuten dauern. Prüfen Sie, ob Ihre Wallet sie im Netzwerk ${network} und an die Adresse dieser Zahlung gesendet hat.`,
    seen: network => `Wir haben diese Transaktion im Netzwerk ${network} gesehen.`,
    notFinal: 'Sie ist noch nicht endgültig.',
    paid: 'Mit dieser Transaktion ist Ihre Bestellung bezahlt.',
    less: merchant =>
      `Diese Transaktion ist angekommen, beträgt aber weniger als verlangt. Kontaktieren Sie ${merchant} deswegen.`,
    reversed: network =>
      `Wir haben diese Transaktion gesehen, aber das Netzwerk ${network} hat sie rückgängig gemacht. Prüfen Sie in Ihrer Wallet, ob das Guthaben zurückgekommen ist.`,
    failed: network =>
      `Diese Transaktion ist im Netzwerk ${network} fehlgeschlagen: Es wurde nichts übertragen.`,
    notFound: network =>
      `Das Netzwerk ${network} kennt diese Transaktion nicht. Es kann eine Minute dauern, bis eine neue bekannt ist. Prüfen Sie, ob Ihre Wallet sie gesendet hat, und zwar im Netzwerk ${network}.`,
    pending: network =>
      `Das Netzwerk ${network} kennt diese Transaktion; sie wartet auf einen Block. Sie zählt, sobald sie in einem Block ist, wenn sie den genauen Betrag an die Adresse dieser Zahlung sendet.`,
    included: network =>
      `Diese Transaktion ist in einem Block des Netzwerks ${network} und geht an die Adresse dieser Zahlung.`,
    counted: 'Die Transaktion wird in Kürze angerechnet: Es ist nichts weiter zu tun.',
    replaced:
      'Eine andere Transaktion ist an die Stelle dieser Transaktion getreten. Suchen Sie im Verlauf Ihrer Wallet die Transaktion, die sie ersetzt hat.',
    tooLittle: merchant =>
      `Diese Transaktion geht an die Adresse dieser Zahlung, beträgt aber weniger als verlangt. Kontaktieren Sie ${merchant} deswegen.`,
    tooLate: merchant =>
      `Diese Transaktion geht an die Adresse dieser Zahlung, ist aber zu spät angekommen. Kontaktieren Sie ${merchant} und nennen Sie diesen Hash.`,
    tooEarly:
      'Diese Transaktion ist älter als diese Zahlung und kann sie deshalb nicht bezahlt haben.',
    otherAsset: (asset, network, merchant) =>
      `Diese Transaktion hat etwas anderes als ${asset} im Netzwerk ${network} an die Adresse dieser Zahlung gesendet. Diese Zahlung wurde damit nicht bezahlt. Kontaktieren Sie ${merchant} und nennen Sie diesen Hash.`,
    otherAddress: network =>
      `Diese Transaktion ist im Netzwerk ${network}, hat aber nichts an die Adresse dieser Zahlung gesendet. Vergleichen Sie die Adresse im Verlauf Ihrer Wallet mit der, die hier angezeigt wurde.`,
    untraceable: merchant =>
      `Diese Transaktion hat möglicherweise über einen Smart Contract an die Adresse dieser Zahlung gezahlt, und das lässt sich von hier aus nicht nachverfolgen. Wir haben ${merchant} darüber informiert: Der Fall wird dort geprüft.`,
    elsewhere: merchant =>
      `Diese Transaktion hat uns erreicht, zählte aber nicht für diese Zahlung: Sie kam zu spät, hatte einen anderen Betrag oder gehört zu einer anderen Zahlung. Kontaktieren Sie ${merchant} und nennen Sie diesen Hash.`,
  },

  refusals: {
    unavailable:
      'Dieses Netzwerk ist zurzeit nicht verfügbar. Wählen Sie ein anderes, oder versuchen Sie es in einer Minute noch einmal.',
    network: reason => `Das Netzwerk wurde nicht gewählt: ${reason}.`,
    cancel: reason => `Die Zahlung wurde nicht abgebrochen: ${reason}.`,
    simulate: reason => `Das lässt sich nicht simulieren: ${reason}.`,
    reasons: {
      choose: 'Das wird für diese Zahlung nicht angeboten',
      waiting: 'Das wird für diese Zahlung nicht angeboten',
      overdue: 'Die Zeit für diese Zahlung ist abgelaufen',
      confirming: 'Es wurde bereits eine Transaktion erkannt',
      paid: 'Diese Zahlung ist bereits erfolgt',
      unsuccessful: 'Diese Zahlung ist beendet',
      expired: 'Die Zeit für diese Zahlung ist abgelaufen',
      cancelled: 'Diese Zahlung wurde abgebrochen',
    },
  },

  failures: {
    malformed: {
      title: 'Diese Anfrage ist nicht lesbar',
      text: 'Gehen Sie zurück zur Zahlungsseite, laden Sie sie neu, und versuchen Sie es noch einmal.',
    },
    tooLarge: {
      title: 'Diese Anfrage ist zu groß',
      text: 'Ihr Browser sendet zu viel mit, wahrscheinlich Cookies. Löschen Sie die Cookies dieser Website, und öffnen Sie den Link noch einmal.',
    },
    conflict: {
      title: 'Das ist nicht mehr möglich',
      text: 'Der Stand der Zahlung hat sich geändert. Gehen Sie zurück zur Zahlungsseite, und laden Sie sie neu.',
    },
    missing: {
      title: 'Diese Zahlungsseite gibt es nicht',
      text: 'Prüfen Sie, ob der ganze Link kopiert wurde, oder gehen Sie zurück zum Shop, und beginnen Sie von vorn.',
    },
    unavailable: {
      title: 'Zurzeit nicht verfügbar',
      text: 'Bitte versuchen Sie es in einer Minute noch einmal. Senden Sie eine Zahlung nicht ein zweites Mal.',
    },
    tooMany: {
      title: 'Zu viele Anfragen',
      text: 'Bitte warten Sie eine Minute, und laden Sie die Seite dann neu.',
    },
    broken: {
      title: 'Bei uns ist etwas schiefgegangen',
      text: 'Bitte versuchen Sie es in einer Minute noch einmal. Senden Sie eine Zahlung nicht ein zweites Mal.',
    },
  },

  script: {
    leftToChoose: 'Noch {0} zum Wählen',
    leftToPay: 'Noch {0} zum Bezahlen',
    timeIsUp: 'Zeit abgelaufen',
    offline: 'Sie sind offline. Diese Seite läuft weiter, sobald Sie wieder online sind.',
    unreachable: 'Der Zahlungsdienst ist nicht erreichbar. Neuer Versuch\u00a0…',
    copied: 'Kopiert',
    pressCopy: 'Drücken Sie die Tastenkombination zum Kopieren.',
  },
};
