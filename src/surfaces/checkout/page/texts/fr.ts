import { html } from '../../../pages/html.ts';
import type { CheckoutTexts } from './en.ts';

export const fr: CheckoutTexts = {
  merchant: 'la boutique',
  simulation: 'Simulation\u00a0: les paiements peuvent être marqués comme payés sans argent.',
  test: 'Test\u00a0: pas d’argent réel.',
  orderReference: 'Commande',
  payment: 'Paiement',
  request: 'Requête',
  language: 'Langue',
  opensNewTab: 'ouvre un nouvel onglet',
  fee: (order, fee) => `Commande ${order} + frais de service ${fee}`,
  testBadge: 'Réseau de test\u00a0: cryptos sans valeur',

  titles: {
    choose: (total, merchant) => `Payez ${total} à ${merchant}`,
    waiting: (amount, merchant) => `Envoyez ${amount} · ${merchant}`,
    overdue: merchant => `Temps écoulé · ${merchant}`,
    confirming: merchant => `Paiement détecté · ${merchant}`,
    paid: merchant => `Payé · ${merchant}`,
    unsuccessful: merchant => `Paiement non abouti · ${merchant}`,
    expired: merchant => `Temps écoulé · ${merchant}`,
    cancelled: merchant => `Paiement annulé · ${merchant}`,
  },

  announcements: {
    choose: 'Choisissez comment payer.',
    lapsed: 'Le prix n’est plus valable. Choisissez à nouveau comment payer.',
    waiting: 'En attente de votre paiement.',
    awaited: 'Le montant envoyé est insuffisant. N’envoyez rien de plus pour le moment.',
    underpaid: 'Le montant reçu est insuffisant. Veuillez lire l’avis.',
    reversed: 'Le réseau a annulé votre transfert.',
    overdue: 'Le temps est écoulé. N’envoyez plus rien.',
    confirming: 'Votre paiement a été détecté et est en cours de confirmation.',
    paid: (total, merchant) => `Payé\u00a0: ${total} à ${merchant}.`,
    unsuccessful: 'Le paiement n’a pas abouti.',
    expired: 'Le paiement a expiré.',
    cancelled: 'Le paiement a été annulé.',
  },

  choose: {
    title: 'Choisissez comment payer',
    ways: 'Moyens de paiement',
    otherWays: 'Autres moyens de paiement',
    nothing: merchant =>
      `Aucun moyen de paiement n’est disponible pour le moment. Réessayez plus tard ou contactez ${merchant}.`,
    lapsed: merchant =>
      `Le prix qui vous était réservé n’est plus valable. N’envoyez rien à l’adresse qui était affichée\u00a0: choisissez à nouveau pour obtenir un nouveau prix. Si vous avez déjà envoyé quelque chose, contactez ${merchant}.`,
    lapsedParts:
      'Le prix qui vous était réservé n’est plus valable\u00a0: choisissez à nouveau pour obtenir un nouveau prix. Ce que vous avez envoyé compte si vous choisissez à nouveau le même réseau.',
    chooseBefore: time => html`Choisissez avant ${time}`,
    windows:
      'Votre choix fixe le prix, et un nouveau délai de paiement commence\u00a0: il est indiqué à côté de chaque moyen de paiement.',
    window: duration => `${duration} pour payer`,
    unavailable: 'indisponible pour le moment',
    test: 'Test',
    search: 'Rechercher une crypto ou un réseau',
    noMatch: 'Aucune crypto ni aucun réseau ne porte ce nom.',
    networkFees: {
      upTo: amount => `frais de réseau généralement inférieurs à ${amount}`,
      high: 'les frais de réseau peuvent atteindre plusieurs dollars',
    },
  },

  waiting: {
    title: amount => `Envoyez ${amount}`,
    titleMore: amount => `Envoyez encore ${amount}`,
    on: network => `sur le réseau ${network}`,
    payBefore: time => html`Payez avant ${time}`,
    amount: 'Montant exact',
    address: 'Adresse',
    price: 'Prix',
    rate: (rate, since) => html`${rate}, fixé à ${since}`,
    openWallet: 'Ouvrir le portefeuille',
    qrOfBoth: 'Code QR de l’adresse et du montant',
    qrOfAddress: 'Code QR de l’adresse',
    refusedCode: 'Votre portefeuille refuse le code ?',
    plainCode:
      'Ce code et ce lien ne contiennent que l’adresse et le montant. Envoyez exactement le montant affiché.',
    warning: (amount, network) =>
      html`Envoyez exactement ${amount} sur le réseau ${network}, en un seul transfert. Avec un autre montant, une autre crypto ou un autre réseau, votre argent peut être perdu. Les frais de réseau de votre portefeuille s’ajoutent à ce montant.`,
    ownAddress: (amount, network) =>
      html`Envoyez ${amount} sur le réseau ${network}. Cette adresse ne sert qu’à ce paiement : plusieurs transferts sont possibles. Avec une autre crypto ou un autre réseau, votre argent peut être perdu. Les frais de réseau de votre portefeuille s’ajoutent à ce montant.`,
    progress: 'En attente de votre paiement.',
    notFinal: 'Pas encore définitif.',
    live: 'Cette page s’actualise toute seule.',
    checkAgain: 'Vérifier à nouveau',
    copy: 'Copier',
    copyAmount: 'Copier le montant',
    copyAddress: 'Copier l’adresse',
    copyTransaction: 'Copier la transaction',
    delayed: network =>
      `Les transferts sur le réseau ${network} sont détectés avec du retard en ce moment. Le vôtre compte s’il a été envoyé à temps.`,
    awaitedTitle: 'Montant envoyé insuffisant',
    awaited: amount =>
      `Votre transfert a été détecté, mais il est inférieur à ${amount}. N’envoyez rien de plus pour le moment\u00a0: dès qu’il sera définitif, cette page affichera ce qu’il reste à payer.`,
    tooLittle: 'Le montant reçu est insuffisant.',
    rest: amount =>
      `Pour terminer votre paiement, envoyez encore exactement ${amount}, en un seul transfert et à temps.`,
    ownRest: amount => `Pour terminer votre paiement, envoyez encore ${amount} à temps.`,
    restRaised: 'C’est plus que ce qui manque\u00a0: les portefeuilles n’envoient pas moins.',
    asked: 'Demandé',
    received: 'Reçu',
    due: 'Reste à payer',
    noRest: (amount, merchant) =>
      `Les paiements partiels ne s’additionnent pas\u00a0: envoyez le montant exact de ${amount} en un seul transfert, et contactez ${merchant} au sujet de ce que vous avez déjà envoyé.`,
    partsElsewhere: amount =>
      `Ce que vous avez déjà envoyé compte si vous choisissez à nouveau son réseau. Sur celui-ci, envoyez le montant exact de ${amount} en un seul transfert.`,
    reversed: network => `Le réseau ${network} a annulé votre transfert.`,
    sendAgain: 'Si les fonds sont revenus dans votre portefeuille, veuillez les envoyer à nouveau.',
  },

  confirmations: {
    unmined: 'Transaction détectée, en attente d’un bloc.',
    blocks: (blocks, required) => `Blocs\u00a0: ${blocks} sur ${required}.`,
    finality: duration =>
      `Dans un bloc, en attente de la confirmation définitive du réseau, généralement environ ${duration}.`,
  },

  outcome: {
    paidTitle: 'Payé',
    paid: merchant => `Votre paiement à ${merchant} a bien été reçu. Merci.`,
    confirmingTitle: 'Paiement détecté',
    confirming: network =>
      `Votre transfert a été détecté et le réseau ${network} est en train de le confirmer. Vous n’avez plus rien à faire\u00a0; vous pouvez fermer cette page.`,
    overdueTitle: 'Temps écoulé',
    overdue: 'N’envoyez plus rien. Nous vérifions si un paiement est arrivé au dernier moment.',
    overdueDelayed: network =>
      `N’envoyez plus rien. Les transferts sur le réseau ${network} sont détectés avec du retard en ce moment, et ce paiement est encore en cours de vérification\u00a0: votre transfert compte s’il a été envoyé à temps.`,
    expired:
      'Aucun paiement n’est arrivé à temps. N’envoyez rien à l’adresse qui était affichée\u00a0: plus personne n’y attend de paiement.',
    cancelledTitle: 'Paiement annulé',
    cancelled: 'Il n’y a rien à payer. N’envoyez rien à une adresse qui a été affichée.',
    unsuccessfulTitle: 'Paiement non abouti',
    failures: {
      underpaid: 'Un montant inférieur à celui demandé est arrivé avant la fin du délai.',
      reverted: network => `La transaction a échoué sur le réseau ${network}.`,
      other: 'Le paiement n’a pas pu être effectué.',
    },
    nextTitle: 'Ce que vous pouvez faire',
    startAgain: merchant =>
      `Si vous souhaitez tout de même payer, repassez par ${merchant} et recommencez.`,
    sentAlready: merchant =>
      `Si vous avez déjà envoyé quelque chose, contactez ${merchant} et indiquez le paiement mentionné ci-dessous ainsi que la transaction de votre portefeuille.`,
    settle: merchant =>
      `Contactez ${merchant} au sujet de ce que vous avez envoyé, et indiquez le paiement mentionné ci-dessous.`,
    contact: contact => html`Contact : ${contact}`,
    transaction: 'Transaction',
    explorer: host => `Voir sur ${host}`,
    returnTo: merchant => `Retour à ${merchant}`,
    returning: seconds => html`Retour dans ${seconds}\u00a0s.`,
    stay: 'Rester ici',
  },

  receipt: {
    title: 'Reçu',
    to: 'Payé à',
    total: 'Montant',
    sent: 'Envoyé',
    network: 'Réseau',
    price: 'Prix',
    when: 'Date et heure',
    print: 'Imprimer',
  },

  transfers: {
    title: 'Ce qui est arrivé',
    earlier: count => `Transferts antérieurs qui ne sont pas affichés\u00a0: ${count}.`,
    excess: amount => `Au total, ${amount} de plus que demandé.`,
    seenAt: time => html`Détecté\u00a0: ${time}`,
    states: {
      seen: 'Pas encore définitif',
      final: 'Définitif',
      reversed: 'Annulé',
      failed: 'Échoué',
    },
    countedFor: {
      whole: 'Paie cette commande en totalité.',
      tolerated:
        'Un peu moins que demandé, mais c’est accepté\u00a0: cette commande est payée en totalité.',
      over: 'Plus que demandé\u00a0: cette commande est payée en totalité.',
      assigned: 'Attribué manuellement à cette commande.',
      first: 'La première partie de cette commande. Le reste est encore dû.',
      completed: 'La première partie de cette commande.',
      rest: 'Le reste\u00a0: cette commande est payée en totalité.',
      elsewhere: 'Moins que le montant demandé. Il compte si vous choisissez à nouveau ce réseau.',
      too_little: 'Moins que le montant demandé.',
      late: 'Arrivé trop tard pour ce paiement.',
      former: 'Pour un montant demandé auparavant, dont le prix n’était plus garanti.',
      again: 'Arrivé alors que ce paiement était déjà réglé.',
      unclear: 'Nous vérifions à quoi ce transfert était destiné.',
      undone: 'Le réseau a annulé ce transfert\u00a0: il ne compte pas.',
      failed: 'La transaction a échoué\u00a0: rien n’est arrivé.',
    },
    became: {
      waits: merchant =>
        `Cela n’a pas compté. Contactez ${merchant} et indiquez cette transaction.`,
      settled: merchant =>
        `Cela n’a pas compté, et ${merchant} s’en est occupé. Contactez ${merchant} à ce sujet.`,
      returned: 'Cela a été renvoyé par cette transaction :',
    },
  },

  options: {
    change: 'Payer autrement',
    changeWarning:
      'Ne changez pas si vous avez déjà envoyé quelque chose à l’adresse ci-dessus\u00a0: votre envoi ne serait plus reconnu.',
    cancel: 'Annuler le paiement',
    cancelWarning:
      'N’annulez pas si vous avez déjà envoyé quelque chose\u00a0: votre envoi ne serait plus reconnu.',
    confirmCancel: 'Oui, annuler ce paiement',
    simulate: 'Simuler (pas en production)',
  },

  lookUp: {
    title: 'Déjà envoyé\u00a0? Retrouvez la transaction',
    label: 'Hash de la transaction dans votre portefeuille',
    button: 'Rechercher',
    shapes: {
      hex: '64 chiffres et lettres de a à f',
      prefixed: '0x et 64 chiffres et lettres de a à f',
      base58: '87 ou 88 lettres et chiffres',
    },
    unreadable: (network, shape) =>
      `Ce n’est pas un hash de transaction du réseau ${network}\u00a0: un tel hash se compose de ${shape}. Copiez-le depuis l’historique de votre portefeuille, et vérifiez que votre portefeuille a fait l’envoi sur le réseau ${network}.`,
    unknown: network =>
      `Nous n’avons pas encore vu cette transaction sur le réseau ${network}. Cela peut prendre quelques minutes. Vérifiez que votre portefeuille l’a envoyée sur le réseau ${network}, à l’adresse de ce paiement.`,
    seen: network => `Nous avons vu cette transaction sur le réseau ${network}.`,
    notFinal: 'Elle n’est pas encore définitive.',
    paid: 'Votre commande a été payée par cette transaction.',
    less: merchant =>
      `Cette transaction est arrivée, mais elle est inférieure au montant demandé. Contactez ${merchant} à ce sujet.`,
    reversed: network =>
      `Nous avons vu cette transaction, mais le réseau ${network} l’a annulée. Vérifiez dans votre portefeuille si les fonds sont revenus.`,
    failed: network =>
      `Cette transaction a échoué sur le réseau ${network}\u00a0: rien n’a été transféré.`,
    notFound: network =>
      `Le réseau ${network} ne connaît pas cette transaction. Il peut s’écouler une minute avant qu’une nouvelle transaction soit connue. Vérifiez que votre portefeuille l’a bien envoyée, et qu’il l’a fait sur le réseau ${network}.`,
    pending: network =>
      `Le réseau ${network} connaît cette transaction, qui est en attente d’un bloc. Elle comptera dès qu’elle sera dans un bloc, si elle crédite l’adresse de ce paiement du montant exact.`,
    included: network =>
      `Cette transaction est dans un bloc du réseau ${network} et crédite l’adresse de ce paiement.`,
    counted: 'Elle sera bientôt prise en compte\u00a0: il n’y a plus rien à faire.',
    replaced:
      'Une autre transaction a pris la place de celle-ci. Cherchez dans l’historique de votre portefeuille celle qui l’a remplacée.',
    tooLittle: merchant =>
      `Cette transaction crédite l’adresse de ce paiement, mais d’un montant inférieur à celui demandé. Contactez ${merchant} à ce sujet.`,
    tooLate: merchant =>
      `Cette transaction crédite l’adresse de ce paiement, mais elle est arrivée trop tard. Contactez ${merchant} et indiquez ce hash.`,
    tooEarly:
      'Cette transaction est plus ancienne que ce paiement\u00a0: elle ne peut donc pas l’avoir réglé.',
    otherAsset: (asset, network, merchant) =>
      `Cette transaction a envoyé à l’adresse de ce paiement autre chose que ${asset} sur le réseau ${network}. Elle n’a pas réglé ce paiement. Contactez ${merchant} et indiquez ce hash.`,
    otherAddress: network =>
      `Cette transaction est sur le réseau ${network}, mais elle n’a rien envoyé à l’adresse de ce paiement. Comparez l’adresse dans l’historique de votre portefeuille avec celle qui a été affichée ici.`,
    untraceable: merchant =>
      `Cette transaction a peut-être crédité l’adresse de ce paiement au moyen d’un contrat, ce qui ne peut pas être retracé d’ici. Nous en avons informé ${merchant}, qui examinera le cas.`,
    elsewhere: merchant =>
      `Cette transaction nous est parvenue, mais elle n’a pas compté pour ce paiement\u00a0: elle est arrivée trop tard, était d’un autre montant ou appartient à un autre paiement. Contactez ${merchant} et indiquez ce hash.`,
  },

  refusals: {
    unavailable:
      'Ce réseau est indisponible pour le moment. Choisissez-en un autre, ou réessayez dans une minute.',
    network: reason => `Le réseau n’a pas été choisi\u00a0: ${reason}.`,
    cancel: reason => `Le paiement n’a pas été annulé\u00a0: ${reason}.`,
    simulate: reason => `Cela ne peut pas être simulé\u00a0: ${reason}.`,
    reasons: {
      choose: 'ce n’est pas proposé pour ce paiement',
      waiting: 'ce n’est pas proposé pour ce paiement',
      overdue: 'le délai de ce paiement est écoulé',
      confirming: 'un transfert a déjà été détecté',
      paid: 'ce paiement a déjà été effectué',
      unsuccessful: 'ce paiement est clos',
      expired: 'le délai de ce paiement est écoulé',
      cancelled: 'ce paiement a été annulé',
    },
  },

  failures: {
    malformed: {
      title: 'Cette requête est illisible',
      text: 'Retournez à la page de paiement, rechargez-la et réessayez.',
    },
    tooLarge: {
      title: 'Cette requête est trop volumineuse',
      text: 'Votre navigateur envoie trop de données avec elle, probablement des cookies. Supprimez les cookies de ce site, puis ouvrez de nouveau le lien.',
    },
    conflict: {
      title: 'Ce n’est plus possible',
      text: 'L’état du paiement a changé. Retournez à sa page et rechargez-la.',
    },
    missing: {
      title: 'Cette page de paiement n’existe pas',
      text: 'Vérifiez que le lien a été copié en entier, ou retournez à la boutique et recommencez.',
    },
    unavailable: {
      title: 'Indisponible pour le moment',
      text: 'Réessayez dans une minute. N’envoyez pas un paiement une deuxième fois.',
    },
    tooMany: {
      title: 'Trop de requêtes',
      text: 'Attendez une minute, puis rechargez la page.',
    },
    broken: {
      title: 'Un problème est survenu de notre côté',
      text: 'Réessayez dans une minute. N’envoyez pas un paiement une deuxième fois.',
    },
  },

  script: {
    leftToChoose: 'Il reste {0} pour choisir',
    leftToPay: 'Il reste {0} pour payer',
    timeIsUp: 'Temps écoulé',
    offline: 'Vous êtes hors ligne. Cette page reprendra à votre reconnexion.',
    unreachable: 'Le service de paiement est injoignable. Nouvelle tentative…',
    copied: 'Copié',
    pressCopy: 'Utilisez le raccourci clavier pour copier.',
  },
};
