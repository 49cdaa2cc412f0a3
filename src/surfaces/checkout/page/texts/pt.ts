import { html } from '../../../pages/html.ts';
import type { CheckoutTexts } from './en.ts';

export const pt: CheckoutTexts = {
  merchant: 'a loja',
  simulation: 'Simulação: os pagamentos podem ser marcados como pagos sem dinheiro.',
  test: 'Teste: sem dinheiro real.',
  orderReference: 'Pedido',
  payment: 'Pagamento',
  request: 'Solicitação',
  language: 'Idioma',
  opensNewTab: 'abre uma nova aba',
  fee: (order, fee) => `Pedido ${order} + taxa de serviço ${fee}`,
  testBadge: 'Rede de teste: moedas sem valor',

  titles: {
    choose: (total, merchant) => `Pague ${total} para ${merchant}`,
    waiting: (amount, merchant) => `Envie ${amount} · ${merchant}`,
    overdue: merchant => `Tempo esgotado · ${merchant}`,
    confirming: merchant => `Pagamento detectado · ${merchant}`,
    paid: merchant => `Pago · ${merchant}`,
    unsuccessful: merchant => `Pagamento não concluído · ${merchant}`,
    expired: merchant => `Tempo esgotado · ${merchant}`,
    cancelled: merchant => `Pagamento cancelado · ${merchant}`,
  },

  announcements: {
    choose: 'Escolha como pagar.',
    lapsed: 'O preço não vale mais. Escolha de novo como pagar.',
    waiting: 'Aguardando seu pagamento.',
    awaited: 'O valor enviado é insuficiente. Não envie mais nada por enquanto.',
    underpaid: 'O valor recebido é insuficiente. Leia o aviso.',
    reversed: 'A rede desfez sua transferência.',
    overdue: 'O tempo se esgotou. Não envie mais nada.',
    confirming: 'Seu pagamento foi detectado e está sendo confirmado.',
    paid: (total, merchant) => `Pago: ${total} para ${merchant}.`,
    unsuccessful: 'O pagamento não foi concluído.',
    expired: 'O pagamento expirou.',
    cancelled: 'O pagamento foi cancelado.',
  },

  choose: {
    title: 'Escolha como pagar',
    ways: 'Formas de pagamento',
    otherWays: 'Outras formas de pagamento',
    nothing: merchant =>
      `Nenhuma forma de pagamento está disponível no momento. Tente novamente mais tarde ou entre em contato com ${merchant}.`,
    lapsed: merchant =>
      `O preço que estava reservado para você não vale mais. Não envie nada para o endereço que foi mostrado: escolha de novo para obter um novo preço. Se você já enviou algo, entre em contato com ${merchant}.`,
    lapsedParts:
      'O preço que estava reservado para você não vale mais: escolha de novo para obter um novo preço. O que você enviou conta se você escolher de novo a mesma rede.',
    chooseBefore: time => html`Escolha até ${time}`,
    windows:
      'Ao escolher, o preço é fixado e começa um novo prazo para pagar: ele aparece ao lado de cada forma de pagamento.',
    window: duration => `${duration} para pagar`,
    unavailable: 'indisponível no momento',
    test: 'Teste',
    search: 'Buscar moedas e redes',
    noMatch: 'Nenhuma moeda ou rede tem esse nome.',
    networkFees: {
      upTo: amount => `taxa de rede geralmente abaixo de ${amount}`,
      high: 'a taxa de rede pode ser de vários dólares',
    },
  },

  waiting: {
    title: amount => `Envie ${amount}`,
    titleMore: amount => `Envie mais ${amount}`,
    on: network => `na rede ${network}`,
    payBefore: time => html`Pague até ${time}`,
    amount: 'Valor exato',
    address: 'Endereço',
    price: 'Preço',
    rate: (rate, since) => html`${rate} (fixado: ${since})`,
    openWallet: 'Abrir carteira',
    qrOfBoth: 'QR code com o endereço e o valor',
    qrOfAddress: 'QR code com o endereço',
    refusedCode: 'Sua carteira recusa o código?',
    plainCode:
      'Este código e este link contêm apenas o endereço e o valor. Envie exatamente o valor mostrado.',
    warning: (amount, network) =>
      html`Envie exatamente ${amount} na rede ${network}, em uma única transferência. Se você enviar outro valor, outra moeda ou por outra rede, seu dinheiro pode se perder. A taxa de rede da sua carteira é cobrada à parte.`,
    ownAddress: (amount, network) =>
      html`Envie ${amount} na rede ${network}. Este endereço é só deste pagamento: várias transferências são aceitas. Se você enviar outra moeda ou por outra rede, seu dinheiro pode se perder. A taxa de rede da sua carteira é cobrada à parte.`,
    progress: 'Aguardando seu pagamento.',
    notFinal: 'Ainda não é definitivo.',
    live: 'Esta página se atualiza sozinha.',
    checkAgain: 'Verificar novamente',
    copy: 'Copiar',
    copyAmount: 'Copiar valor',
    copyAddress: 'Copiar endereço',
    copyTransaction: 'Copiar transação',
    delayed: network =>
      `No momento, as transferências na rede ${network} estão sendo detectadas com atraso. A sua vale se foi enviada a tempo.`,
    awaitedTitle: 'O valor enviado é insuficiente',
    awaited: amount =>
      `Sua transferência foi detectada e é menor que ${amount}. Não envie mais nada por enquanto: quando ela for definitiva, esta página mostrará quanto ainda falta.`,
    tooLittle: 'O valor recebido é insuficiente.',
    rest: amount =>
      `Para concluir o pagamento, envie ainda exatamente ${amount}, em uma única transferência e a tempo.`,
    ownRest: amount => `Para concluir o pagamento, envie ainda ${amount} a tempo.`,
    restRaised: 'É mais do que falta: as carteiras não enviam menos.',
    asked: 'Solicitado',
    received: 'Recebido',
    due: 'Ainda falta',
    noRest: (amount, merchant) =>
      `Pagamentos parciais não são somados: envie o valor exato de ${amount} em uma única transferência e entre em contato com ${merchant} sobre o que você já enviou.`,
    partsElsewhere: amount =>
      `O que você já enviou conta se você escolher de novo a rede em que enviou. Nesta, envie o valor exato de ${amount} em uma única transferência.`,
    reversed: network => `A rede ${network} desfez sua transferência.`,
    sendAgain: 'Se os fundos voltaram para a sua carteira, envie-os novamente.',
  },

  confirmations: {
    unmined: 'Detectada, aguardando um bloco.',
    blocks: (blocks, required) => `Blocos: ${blocks} de ${required}.`,
    finality: duration =>
      `Em um bloco, aguardando a confirmação definitiva da rede, geralmente cerca de ${duration}.`,
  },

  outcome: {
    paidTitle: 'Pago',
    paid: merchant => `Seu pagamento para ${merchant} foi recebido. Obrigado.`,
    confirmingTitle: 'Pagamento detectado',
    confirming: network =>
      `Sua transferência foi detectada e está sendo confirmada pela rede ${network}. Você não precisa fazer mais nada; pode fechar esta página.`,
    overdueTitle: 'Tempo esgotado',
    overdue: 'Não envie mais nada. Estamos verificando se chegou um pagamento no último momento.',
    overdueDelayed: network =>
      `Não envie mais nada. No momento, as transferências na rede ${network} estão sendo detectadas com atraso, e este pagamento ainda está sendo verificado: sua transferência vale se foi enviada a tempo.`,
    expired:
      'Nenhum pagamento chegou a tempo. Não envie nada para o endereço que foi mostrado: ninguém mais espera um pagamento ali.',
    cancelledTitle: 'Pagamento cancelado',
    cancelled: 'Não há nada a pagar. Não envie nada para nenhum endereço que tenha sido mostrado.',
    unsuccessfulTitle: 'Pagamento não concluído',
    failures: {
      underpaid: 'Antes de o tempo se esgotar, chegou menos do que o valor solicitado.',
      reverted: network => `A transação falhou na rede ${network}.`,
      other: 'Não foi possível concluir o pagamento.',
    },
    nextTitle: 'O que você pode fazer',
    startAgain: merchant => `Se ainda quiser pagar, volte para ${merchant} e comece de novo.`,
    sentAlready: merchant =>
      `Se você já enviou algo, entre em contato com ${merchant} e informe o pagamento indicado abaixo e a transação da sua carteira.`,
    settle: merchant =>
      `Entre em contato com ${merchant} sobre o que você enviou e informe o pagamento indicado abaixo.`,
    contact: contact => html`Contato: ${contact}`,
    transaction: 'Transação',
    explorer: host => `Ver em ${host}`,
    returnTo: merchant => `Voltar para ${merchant}`,
    returning: seconds => html`Voltando em ${seconds}\u00a0s.`,
    stay: 'Ficar aqui',
  },

  receipt: {
    title: 'Comprovante',
    to: 'Pago para',
    total: 'Valor',
    sent: 'Enviado',
    network: 'Rede',
    price: 'Preço',
    when: 'Data e hora',
    print: 'Imprimir',
  },

  transfers: {
    title: 'O que chegou',
    earlier: count => `Transferências anteriores que não aparecem aqui: ${count}.`,
    excess: amount => `No total, ${amount} a mais do que o solicitado.`,
    seenAt: time => html`Detectada: ${time}`,
    states: {
      seen: 'Ainda não é definitiva',
      final: 'Definitiva',
      reversed: 'Desfeita',
      failed: 'Falhou',
    },
    countedFor: {
      whole: 'Paga este pedido por inteiro.',
      tolerated: 'Um pouco menos do que o solicitado, mas aceito: paga este pedido por inteiro.',
      over: 'Mais do que o solicitado: paga este pedido por inteiro.',
      assigned: 'Atribuída a este pedido manualmente.',
      first: 'A primeira parte deste pedido. O restante ainda falta.',
      completed: 'A primeira parte deste pedido.',
      rest: 'O restante: conclui o pagamento deste pedido.',
      elsewhere: 'Menos do que o solicitado. Conta se você escolher de novo esta rede.',
      too_little: 'Menos do que o solicitado.',
      late: 'Chegou tarde demais para este pagamento.',
      former: 'Para um valor pedido antes, cujo preço já não estava garantido.',
      again: 'Chegou quando este pagamento já estava pago.',
      unclear: 'Estamos verificando para que era.',
      undone: 'A rede desfez esta transferência: ela não conta.',
      failed: 'A transação falhou: nada chegou.',
    },
    became: {
      waits: merchant => `Não contou. Entre em contato com ${merchant} e informe esta transação.`,
      settled: merchant =>
        `Não contou, e ${merchant} já cuidou disso. Entre em contato com ${merchant} a respeito.`,
      returned: 'Foi devolvido por esta transação:',
    },
  },

  options: {
    change: 'Pagar de outra forma',
    changeWarning:
      'Não mude se você já enviou algo para o endereço acima: o envio não seria mais reconhecido.',
    cancel: 'Cancelar pagamento',
    cancelWarning: 'Não cancele se você já enviou algo: o envio não seria mais reconhecido.',
    confirmCancel: 'Sim, cancelar este pagamento',
    simulate: 'Simular (não em produção)',
  },

  lookUp: {
    title: 'Já enviou? Localize a transação',
    label: 'Hash da transação na sua carteira',
    button: 'Localizar',
    shapes: {
      hex: '64 números e letras de “a” a “f”',
      prefixed: '0x e 64 números e letras de “a” a “f”',
      base58: '87 ou 88 letras e números',
    },
    unreadable: (network, shape) =>
      `Isto não é um hash de transação da rede ${network}, que é composto por ${shape}. Copie-o do histórico da sua carteira e verifique se a sua carteira fez o envio na rede ${network}.`,
    unknown: network =>
      `Ainda não vimos esta transação na rede ${network}. Isso pode levar alguns minutos. Verifique se a sua carteira a enviou na rede ${network}, para o endereço deste pagamento.`,
    seen: network => `Vimos esta transação na rede ${network}.`,
    notFinal: 'Ela ainda não é definitiva.',
    paid: 'Esta transação pagou seu pedido.',
    less: merchant =>
      `Esta transação chegou, mas é menor que o valor solicitado. Entre em contato com ${merchant} sobre isso.`,
    reversed: network =>
      `Vimos esta transação, mas a rede ${network} a desfez. Verifique na sua carteira se os fundos voltaram.`,
    failed: network => `Esta transação falhou na rede ${network}: nada foi transferido.`,
    notFound: network =>
      `A rede ${network} não conhece esta transação. Pode levar um minuto até que uma nova seja conhecida. Verifique se a sua carteira a enviou, e se a enviou na rede ${network}.`,
    pending: network =>
      `A rede ${network} conhece esta transação, que está aguardando um bloco. Ela valerá quando estiver em um bloco, se enviar o valor exato para o endereço deste pagamento.`,
    included: network =>
      `Esta transação está em um bloco da rede ${network} e envia fundos para o endereço deste pagamento.`,
    counted: 'Ela será contabilizada em breve: não há mais nada a fazer.',
    replaced:
      'Outra transação tomou o lugar desta. Procure no histórico da sua carteira a que a substituiu.',
    tooLittle: merchant =>
      `Esta transação envia fundos para o endereço deste pagamento, mas menos do que o valor solicitado. Entre em contato com ${merchant} sobre isso.`,
    tooLate: merchant =>
      `Esta transação envia fundos para o endereço deste pagamento, mas chegou tarde demais. Entre em contato com ${merchant} e informe este hash.`,
    tooEarly:
      'Esta transação é mais antiga que este pagamento e, por isso, não pode tê-lo quitado.',
    otherAsset: (asset, network, merchant) =>
      `Esta transação enviou para o endereço deste pagamento algo diferente de ${asset} na rede ${network}. Ela não quitou este pagamento. Entre em contato com ${merchant} e informe este hash.`,
    otherAddress: network =>
      `Esta transação está na rede ${network}, mas não enviou nada para o endereço deste pagamento. Compare o endereço no histórico da sua carteira com o que foi mostrado aqui.`,
    untraceable: merchant =>
      `É possível que esta transação tenha enviado fundos para o endereço deste pagamento por meio de um contrato, o que não pode ser rastreado daqui. Enviamos um aviso para ${merchant}, que analisará o caso.`,
    elsewhere: merchant =>
      `Esta transação chegou até nós, mas não valeu para este pagamento: chegou tarde demais, era de outro valor ou pertence a outro pagamento. Entre em contato com ${merchant} e informe este hash.`,
  },

  refusals: {
    unavailable:
      'Esta rede não está disponível no momento. Escolha outra ou tente novamente em um minuto.',
    network: reason => `A rede não foi escolhida: ${reason}.`,
    cancel: reason => `O pagamento não foi cancelado: ${reason}.`,
    simulate: reason => `Isto não pode ser simulado: ${reason}.`,
    reasons: {
      choose: 'isso não é oferecido para este pagamento',
      waiting: 'isso não é oferecido para este pagamento',
      overdue: 'o tempo deste pagamento se esgotou',
      confirming: 'uma transferência já foi detectada',
      paid: 'este pagamento já foi feito',
      unsuccessful: 'este pagamento foi encerrado',
      expired: 'o tempo deste pagamento se esgotou',
      cancelled: 'este pagamento foi cancelado',
    },
  },

  failures: {
    malformed: {
      title: 'Não foi possível ler esta solicitação',
      text: 'Volte para a página de pagamento, recarregue-a e tente novamente.',
    },
    tooLarge: {
      title: 'Esta solicitação é grande demais',
      text: 'Seu navegador envia dados demais com ela, provavelmente cookies. Exclua os cookies deste site e abra o link novamente.',
    },
    conflict: {
      title: 'Isto não é mais possível',
      text: 'A situação do pagamento mudou. Volte para a página dele e recarregue-a.',
    },
    missing: {
      title: 'Esta página de pagamento não existe',
      text: 'Verifique se o link foi copiado por inteiro ou volte para a loja e comece de novo.',
    },
    unavailable: {
      title: 'Indisponível no momento',
      text: 'Tente novamente em um minuto. Não envie um pagamento pela segunda vez.',
    },
    tooMany: {
      title: 'Solicitações demais',
      text: 'Espere um minuto e recarregue a página.',
    },
    broken: {
      title: 'Algo deu errado do nosso lado',
      text: 'Tente novamente em um minuto. Não envie um pagamento pela segunda vez.',
    },
  },

  script: {
    leftToChoose: 'Tempo para escolher: {0}',
    leftToPay: 'Tempo para pagar: {0}',
    timeIsUp: 'Tempo esgotado',
    offline: 'Você está sem conexão. Esta página continuará quando ela voltar.',
    unreachable: 'Não foi possível acessar o serviço de pagamento. Tentando de novo…',
    copied: 'Copiado',
    pressCopy: 'Use o atalho de teclado para copiar.',
  },
};
