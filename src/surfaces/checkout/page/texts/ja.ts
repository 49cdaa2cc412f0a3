import { html } from '../../../pages/html.ts';
import type { CheckoutTexts } from './en.ts';

export const ja: CheckoutTexts = {
  merchant: 'ショップ',
  simulation: 'シミュレーション：実際の送金なしで、お支払いを「支払い済み」にできます。',
  test: 'テスト：実際のお金は動きません。',
  orderReference: 'ご注文番号',
  payment: 'お支払い番号',
  request: 'リクエスト番号',
  language: '言語',
  opensNewTab: '新しいタブで開きます',
  fee: (order, fee) => `ご注文 ${order} + サービス手数料 ${fee}`,
  testBadge: 'テストネットワーク：価値のないコイン',

  titles: {
    choose: (total, merchant) => `${merchant}へ${total}のお支払い`,
    waiting: (amount, merchant) => `${amount}を送金 · ${merchant}`,
    overdue: merchant => `期限切れ · ${merchant}`,
    confirming: merchant => `お支払いを検知 · ${merchant}`,
    paid: merchant => `お支払い完了 · ${merchant}`,
    unsuccessful: merchant => `お支払い失敗 · ${merchant}`,
    expired: merchant => `期限切れ · ${merchant}`,
    cancelled: merchant => `お支払いキャンセル済み · ${merchant}`,
  },

  announcements: {
    choose: 'お支払い方法をお選びください。',
    lapsed: '価格の有効期限が切れました。お支払い方法をもう一度お選びください。',
    waiting: 'お支払いをお待ちしています。',
    awaited: '送金額が不足しています。今はこれ以上何も送金しないでください。',
    underpaid: '届いた金額が不足しています。お知らせをお読みください。',
    reversed: '送金がネットワークによって取り消されました。',
    overdue: '期限が過ぎました。もう何も送金しないでください。',
    confirming: 'お支払いを検知しました。承認を待っています。',
    paid: (total, merchant) => `お支払い完了：${merchant}へ${total}。`,
    unsuccessful: 'お支払いは失敗しました。',
    expired: 'お支払いの期限が切れました。',
    cancelled: 'お支払いはキャンセルされました。',
  },

  choose: {
    title: 'お支払い方法をお選びください',
    ways: 'お支払い方法',
    otherWays: 'その他のお支払い方法',
    nothing: merchant =>
      `現在ご利用いただけるお支払い方法がありません。後ほどもう一度お試しいただくか、${merchant}にお問い合わせください。`,
    lapsed: merchant =>
      `確保していた価格の有効期限が切れました。表示されていたアドレスには何も送金しないでください。もう一度お選びいただくと、新しい価格になります。すでに送金された場合は、${merchant}にお問い合わせください。`,
    lapsedParts:
      '確保していた価格の有効期限が切れました。もう一度お選びいただくと、新しい価格になります。すでに送金された分は、同じネットワークをお選びいただくと合算されます。',
    chooseBefore: time => html`${time}までにお選びください`,
    windows:
      'お選びいただくと価格が固定され、新たにお支払いの制限時間が始まります。制限時間は各お支払い方法の横に表示されています。',
    window: duration => `お支払いの制限時間：${duration}`,
    unavailable: '現在ご利用いただけません',
    test: 'テスト',
    search: 'コイン・ネットワークを検索',
    noMatch: 'その名前のコインやネットワークはありません。',
    networkFees: {
      upTo: amount => `ネットワーク手数料は通常${amount}未満`,
      high: 'ネットワーク手数料は数ドルになる場合があります',
    },
  },

  waiting: {
    title: amount => `${amount}を送金してください`,
    titleMore: amount => `あと${amount}を送金してください`,
    on: network => `ネットワーク：${network}`,
    payBefore: time => html`${time}までにお支払いください`,
    amount: '正確な金額',
    address: 'アドレス',
    price: '価格',
    rate: (rate, since) => html`${rate}（${since}に固定）`,
    openWallet: 'ウォレットを開く',
    qrOfBoth: 'アドレスと金額のQRコード',
    qrOfAddress: 'アドレスのQRコード',
    refusedCode: 'ウォレットがコードを受け付けない場合',
    plainCode:
      'このコードとリンクにはアドレスと金額だけが含まれます。表示された金額ちょうどを送金してください。',
    warning: (amount, network) =>
      html`ネットワークは${network}で、${amount}ちょうどを、1回で送金してください。金額、コイン、ネットワークが異なると、資金が失われるおそれがあります。ウォレットのネットワーク手数料は別途かかります。`,
    ownAddress: (amount, network) =>
      html`ネットワークは${network}で、${amount}を送金してください。このアドレスはこのお支払い専用です。複数回に分けて送金できます。コインやネットワークが異なると、資金が失われるおそれがあります。ウォレットのネットワーク手数料は別途かかります。`,
    progress: 'お支払いをお待ちしています。',
    notFinal: 'まだ確定していません。',
    live: 'このページは自動で更新されます。',
    checkAgain: 'もう一度確認する',
    copy: 'コピー',
    copyAmount: '金額をコピー',
    copyAddress: 'アドレスをコピー',
    copyTransaction: 'トランザクションをコピー',
    delayed: network =>
      `現在、${network}での送金は検知が遅れています。期限内に送金されていれば有効です。`,
    awaitedTitle: '送金額が不足しています',
    awaited: amount =>
      `送金を検知しましたが、${amount}に足りません。今はこれ以上何も送金しないでください。送金が確定すると、このページに不足額が表示されます。`,
    tooLittle: '届いた金額が不足しています。',
    rest: amount =>
      `お支払いを完了するには、あと${amount}ちょうどを、1回で、期限内に送金してください。`,
    ownRest: amount => `お支払いを完了するには、あと${amount}を期限内に送金してください。`,
    restRaised: '不足額より多い金額です。ウォレットではこれより少なく送れません。',
    asked: '請求額',
    received: '受領額',
    due: '不足額',
    noRest: (amount, merchant) =>
      `分けて送金されたものは合算されません。${amount}ちょうどを1回で送金し、すでに送金された分については${merchant}にお問い合わせください。`,
    partsElsewhere: amount =>
      `すでに送金された分は、送金時のネットワークをもう一度お選びいただくと合算されます。このネットワークでは、${amount}ちょうどを1回で送金してください。`,
    reversed: network => `送金が${network}によって取り消されました。`,
    sendAgain: '資金がウォレットに戻っている場合は、もう一度送金してください。',
  },

  confirmations: {
    unmined: '検知しました。ブロックへの取り込みを待っています。',
    blocks: (blocks, required) => `ブロック数：${blocks} / ${required}。`,
    finality: duration =>
      `ブロックに取り込まれました。ネットワークでの確定を待っています（通常は約${duration}）。`,
  },

  outcome: {
    paidTitle: 'お支払い完了',
    paid: merchant => `${merchant}がお支払いを受け取りました。ありがとうございました。`,
    confirmingTitle: 'お支払いを検知しました',
    confirming: network =>
      `送金を検知しました。現在、${network}で承認中です。これ以上の操作は必要ありません。このページを閉じても構いません。`,
    overdueTitle: '期限が過ぎました',
    overdue: 'もう何も送金しないでください。期限間際に届いたお支払いがないか確認しています。',
    overdueDelayed: network =>
      `もう何も送金しないでください。現在、${network}での送金は検知が遅れており、このお支払いはまだ確認中です。期限内に送金されていれば有効です。`,
    expired:
      '期限内にお支払いが届きませんでした。表示されていたアドレスには何も送金しないでください。そのアドレスへの入金は、もうお待ちしていません。',
    cancelledTitle: 'お支払いはキャンセルされました',
    cancelled:
      'お支払いいただくものはありません。表示されていたアドレスには何も送金しないでください。',
    unsuccessfulTitle: 'お支払いは失敗しました',
    failures: {
      underpaid: '期限までに届いた金額が、請求額に足りませんでした。',
      reverted: network => `トランザクションは${network}で失敗しました。`,
      other: 'お支払いを完了できませんでした。',
    },
    nextTitle: '今後のお手続き',
    startAgain: merchant => `改めてお支払いになる場合は、${merchant}で最初からお手続きください。`,
    sentAlready: merchant =>
      `すでに送金された場合は、${merchant}にお問い合わせのうえ、下記のお支払い番号と、ウォレットにあるトランザクションをお伝えください。`,
    settle: merchant =>
      `送金された分については${merchant}にお問い合わせのうえ、下記のお支払い番号をお伝えください。`,
    contact: contact => html`お問い合わせ先：${contact}`,
    transaction: 'トランザクション',
    explorer: host => `${host}で見る`,
    returnTo: merchant => `${merchant}に戻る`,
    returning: seconds => html`${seconds}秒後に戻ります。`,
    stay: 'このページに残る',
  },

  receipt: {
    title: 'お支払い明細',
    to: 'お支払い先',
    total: '金額',
    sent: '送金額',
    network: 'ネットワーク',
    price: '価格',
    when: '日時',
    print: '印刷',
  },

  transfers: {
    title: '届いた送金',
    earlier: count => `ここに表示されていない以前の送金：${count}件`,
    excess: amount => `合計で、請求額より${amount}多く届いています。`,
    seenAt: time => html`検知日時：${time}`,
    states: {
      seen: '未確定',
      final: '確定済み',
      reversed: '取り消し',
      failed: '失敗',
    },
    countedFor: {
      whole: 'ご注文の全額のお支払いです。',
      tolerated:
        '請求額よりわずかに少ない金額ですが、許容範囲のため、ご注文の全額のお支払いとして扱われます。',
      over: '請求額より多い金額です。ご注文の全額のお支払いとして扱われます。',
      assigned: 'このご注文のお支払いとして手動で割り当てられました。',
      first: 'ご注文のお支払いの一部です。残りの金額のお支払いが必要です。',
      completed: 'ご注文のお支払いの一部です。',
      rest: '残りの金額です。これでご注文の全額のお支払いとなります。',
      elsewhere: '請求額に足りません。このネットワークをもう一度お選びいただくと、合算されます。',
      too_little: '請求額に足りません。',
      late: 'このお支払いの期限後に届きました。',
      former: '以前にお知らせした金額に対するもので、その価格の期限が過ぎていました。',
      again: 'このお支払いの完了後に届きました。',
      unclear: '何のための送金か確認中です。',
      undone: 'この送金はネットワークによって取り消されたため、お支払いとして扱われません。',
      failed: 'トランザクションが失敗したため、何も届いていません。',
    },
    became: {
      waits: merchant =>
        `お支払いとして扱われていません。${merchant}にお問い合わせのうえ、このトランザクションをお伝えください。`,
      settled: merchant =>
        `お支払いとして扱われず、${merchant}が対応済みです。詳しくは${merchant}にお問い合わせください。`,
      returned: '次のトランザクションで返金されました。',
    },
  },

  options: {
    change: '別の方法で支払う',
    changeWarning:
      '上記のアドレスにすでに送金された場合は、変更しないでください。変更すると、その送金は認識されなくなります。',
    cancel: 'お支払いをキャンセルする',
    cancelWarning:
      'すでに送金された場合は、キャンセルしないでください。キャンセルすると、その送金は認識されなくなります。',
    confirmCancel: 'はい、このお支払いをキャンセルします',
    simulate: 'シミュレーション（本番環境では使えません）',
  },

  lookUp: {
    title: '送金済みですか？ トランザクションを調べる',
    label: 'ウォレットにあるトランザクションハッシュ',
    button: '調べる',
    shapes: {
      hex: '数字とa～fの英字からなる64文字',
      prefixed: '「0x」に続く、数字とa～fの英字からなる64文字',
      base58: '英字と数字からなる87文字または88文字',
    },
    unreadable: (network, shape) =>
      `これは${network}のトランザクションハッシュではありません。正しい形式は、${shape}です。ウォレットの履歴からコピーし、ウォレットから${network}で送金されていることをご確認ください。`,
    unknown: network =>
      `${network}ではこのトランザクションをまだ検知していません。数分かかる場合があります。ウォレットから${network}で、このお支払いのアドレス宛てに送金されていることをご確認ください。`,
    seen: network => `${network}でこのトランザクションを検知しました。`,
    notFinal: 'まだ確定していません。',
    paid: 'このトランザクションで、ご注文のお支払いが完了しています。',
    less: merchant =>
      `このトランザクションは届きましたが、請求額に足りません。この件については${merchant}にお問い合わせください。`,
    reversed: network =>
      `このトランザクションを検知しましたが、${network}によって取り消されました。資金が戻っているか、ウォレットでご確認ください。`,
    failed: network => `このトランザクションは${network}で失敗しました。何も送金されていません。`,
    notFound: network =>
      `${network}ではこのトランザクションが見つかりません。新しいトランザクションは、見つかるまでに1分ほどかかる場合があります。ウォレットから送信されていること、また${network}で送信されていることをご確認ください。`,
    pending: network =>
      `${network}でこのトランザクションが見つかりました。ブロックへの取り込みを待っています。このお支払いのアドレスに正確な金額を支払うものであれば、取り込まれた時点で有効になります。`,
    included: network =>
      `このトランザクションは${network}のブロックに取り込まれており、このお支払いのアドレスに支払われています。`,
    counted: 'まもなく反映されます。これ以上の操作は必要ありません。',
    replaced:
      'このトランザクションは別のトランザクションに置き換えられました。置き換え後のトランザクションを、ウォレットの履歴でご確認ください。',
    tooLittle: merchant =>
      `このトランザクションはこのお支払いのアドレスに支払われていますが、請求額に足りません。この件については${merchant}にお問い合わせください。`,
    tooLate: merchant =>
      `このトランザクションはこのお支払いのアドレスに支払われていますが、届くのが遅すぎました。${merchant}にお問い合わせのうえ、このハッシュをお伝えください。`,
    tooEarly:
      'このトランザクションはこのお支払いより前のものです。そのため、このお支払いに充てられたものではありえません。',
    otherAsset: (asset, network, merchant) =>
      `このトランザクションでは、${network}の${asset}ではないものが、このお支払いのアドレスに送金されました。このお支払いには充てられていません。${merchant}にお問い合わせのうえ、このハッシュをお伝えください。`,
    otherAddress: network =>
      `このトランザクションは${network}にありますが、このお支払いのアドレスには何も送金されていません。ウォレットの履歴にあるアドレスと、ここに表示されていたアドレスを比べてください。`,
    untraceable: merchant =>
      `このトランザクションは、スマートコントラクトを通じてこのお支払いのアドレスに支払われた可能性がありますが、ここからは追跡できません。この件は${merchant}に通知済みで、${merchant}が調査します。`,
    elsewhere: merchant =>
      `このトランザクションは届きましたが、このお支払いとしては扱われませんでした。届くのが遅すぎたか、金額が異なっていたか、別のお支払いのものです。${merchant}にお問い合わせのうえ、このハッシュをお伝えください。`,
  },

  refusals: {
    unavailable:
      'このネットワークは現在ご利用いただけません。別のネットワークを選ぶか、1分後にもう一度お試しください。',
    network: reason => `ネットワークは選択されませんでした：${reason}。`,
    cancel: reason => `お支払いはキャンセルされませんでした：${reason}。`,
    simulate: reason => `シミュレーションできません：${reason}。`,
    reasons: {
      choose: 'このお支払いではご利用いただけません',
      waiting: 'このお支払いではご利用いただけません',
      overdue: 'お支払いの期限が過ぎています',
      confirming: 'すでに送金が検知されています',
      paid: 'すでにお支払い済みです',
      unsuccessful: 'お支払いはすでに終了しています',
      expired: 'お支払いの期限が過ぎています',
      cancelled: 'お支払いはすでにキャンセルされています',
    },
  },

  failures: {
    malformed: {
      title: 'このリクエストを読み取れません',
      text: 'お支払いページに戻り、再読み込みしてからもう一度お試しください。',
    },
    tooLarge: {
      title: 'リクエストが大きすぎます',
      text: 'ブラウザーが送信するデータが多すぎます。原因はおそらく Cookie です。このサイトの Cookie を削除してから、リンクをもう一度開いてください。',
    },
    conflict: {
      title: 'この操作はもうできません',
      text: 'お支払いの状況が変わりました。お支払いページに戻り、再読み込みしてください。',
    },
    missing: {
      title: 'このお支払いページは存在しません',
      text: 'リンク全体がコピーされているかご確認いただくか、ショップに戻って最初からお手続きください。',
    },
    unavailable: {
      title: '現在ご利用いただけません',
      text: '1分後にもう一度お試しください。二重に送金しないでください。',
    },
    tooMany: {
      title: 'リクエストが多すぎます',
      text: '1分ほど待ってから、ページを再読み込みしてください。',
    },
    broken: {
      title: '当サービス側で問題が発生しました',
      text: '1分後にもう一度お試しください。二重に送金しないでください。',
    },
  },

  script: {
    leftToChoose: '選択の残り時間：{0}',
    leftToPay: 'お支払いの残り時間：{0}',
    timeIsUp: '期限が過ぎました',
    offline: 'オフラインです。接続が戻ると、このページは再開します。',
    unreachable: '決済サービスに接続できません。再試行しています…',
    copied: 'コピーしました',
    pressCopy: 'コピーのキー操作でコピーしてください。',
  },
};
