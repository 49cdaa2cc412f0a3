import type { PaymentStatus } from '#storage/database/payment-tables.ts';
import type { LanguageTag } from '../../checkout/page/texts/languages.ts';

/** Value that a button of the sandbox submits. */
export type SandboxAction = 'pay' | 'hold' | 'settle' | 'fail' | 'cancel';

/** Texts of the sandbox, beside those that it shares with the checkout. */
interface SandboxTexts {
  readonly sandbox: string;
  readonly title: (amount: string) => string;
  readonly network: string;
  /** Networks of coins that are worth something, and of coins that are not. */
  readonly mainNetworks: string;
  readonly testNetworks: string;
  readonly buttons: Readonly<Record<SandboxAction, string>>;
  readonly endings: Readonly<Record<PaymentStatus, string>>;
  readonly thanks: string;
  readonly thanksText: string;
}

export const SANDBOX_TEXTS: Readonly<Record<LanguageTag, SandboxTexts>> = {
  en: {
    sandbox: 'Sandbox: no money moves here.',
    title: amount => `Pay ${amount}`,
    network: 'Network',
    mainNetworks: 'Networks',
    testNetworks: 'Test networks: coins without value',
    buttons: {
      pay: 'Pay',
      hold: 'Pay, but do not settle yet',
      settle: 'Settle',
      fail: 'Let the payment fail',
      cancel: 'Cancel',
    },
    endings: {
      pending: 'The payment has been seen and is not settled yet.',
      successful: 'The payment is settled. You can close this page.',
      unsuccessful: 'The payment failed. Nothing was taken.',
      expired: 'The time to pay is over. Nothing was taken.',
      cancelled: 'The payment was cancelled. Nothing was taken.',
    },
    thanks: 'Thank you',
    thanksText: 'The merchant is told as soon as your payment is settled. You can close this page.',
  },
  es: {
    sandbox: 'Entorno de pruebas: aquí no se mueve dinero.',
    title: amount => `Pagar ${amount}`,
    network: 'Red',
    mainNetworks: 'Redes',
    testNetworks: 'Redes de prueba: monedas sin valor',
    buttons: {
      pay: 'Pagar',
      hold: 'Pagar, pero no liquidar todavía',
      settle: 'Liquidar',
      fail: 'Hacer que el pago falle',
      cancel: 'Cancelar',
    },
    endings: {
      pending: 'El pago se ha detectado y aún no está liquidado.',
      successful: 'El pago está liquidado. Puede cerrar esta página.',
      unsuccessful: 'El pago ha fallado. No se ha cobrado nada.',
      expired: 'El tiempo para pagar ha terminado. No se ha cobrado nada.',
      cancelled: 'El pago se ha cancelado. No se ha cobrado nada.',
    },
    thanks: 'Gracias',
    thanksText:
      'El comercio recibirá un aviso en cuanto se liquide su pago. Puede cerrar esta página.',
  },
  de: {
    sandbox: 'Testumgebung: Hier fließt kein Geld.',
    title: amount => `${amount} bezahlen`,
    network: 'Netzwerk',
    mainNetworks: 'Netzwerke',
    testNetworks: 'Testnetzwerke: Münzen ohne Wert',
    buttons: {
      pay: 'Bezahlen',
      hold: 'Bezahlen, aber noch nicht abrechnen',
      settle: 'Abrechnen',
      fail: 'Die Zahlung scheitern lassen',
      cancel: 'Abbrechen',
    },
    endings: {
      pending: 'Die Zahlung wurde erkannt und ist noch nicht abgerechnet.',
      successful: 'Die Zahlung ist abgerechnet. Sie können diese Seite schließen.',
      unsuccessful: 'Die Zahlung ist gescheitert. Es wurde nichts abgebucht.',
      expired: 'Die Zeit zum Bezahlen ist um. Es wurde nichts abgebucht.',
      cancelled: 'Die Zahlung wurde abgebrochen. Es wurde nichts abgebucht.',
    },
    thanks: 'Vielen Dank',
    thanksText:
      'Der Händler erfährt es, sobald Ihre Zahlung abgerechnet ist. Sie können diese Seite schließen.',
  },
  fr: {
    sandbox: 'Environnement de test : aucun argent ne circule ici.',
    title: amount => `Payer ${amount}`,
    network: 'Réseau',
    mainNetworks: 'Réseaux',
    testNetworks: 'Réseaux de test : pièces sans valeur',
    buttons: {
      pay: 'Payer',
      hold: 'Payer, mais sans régler pour le moment',
      settle: 'Régler',
      fail: 'Faire échouer le paiement',
      cancel: 'Annuler',
    },
    endings: {
      pending: 'Le paiement a été détecté et n’est pas encore réglé.',
      successful: 'Le paiement est réglé. Vous pouvez fermer cette page.',
      unsuccessful: 'Le paiement a échoué. Rien n’a été débité.',
      expired: 'Le délai de paiement est écoulé. Rien n’a été débité.',
      cancelled: 'Le paiement a été annulé. Rien n’a été débité.',
    },
    thanks: 'Merci',
    thanksText:
      'Le commerçant est informé dès que votre paiement est réglé. Vous pouvez fermer cette page.',
  },
  pt: {
    sandbox: 'Ambiente de teste: nenhum dinheiro é movimentado aqui.',
    title: amount => `Pagar ${amount}`,
    network: 'Rede',
    mainNetworks: 'Redes',
    testNetworks: 'Redes de teste: moedas sem valor',
    buttons: {
      pay: 'Pagar',
      hold: 'Pagar, mas ainda não liquidar',
      settle: 'Liquidar',
      fail: 'Fazer o pagamento falhar',
      cancel: 'Cancelar',
    },
    endings: {
      pending: 'O pagamento foi detectado e ainda não foi liquidado.',
      successful: 'O pagamento foi liquidado. Você pode fechar esta página.',
      unsuccessful: 'O pagamento falhou. Nada foi cobrado.',
      expired: 'O tempo para pagar acabou. Nada foi cobrado.',
      cancelled: 'O pagamento foi cancelado. Nada foi cobrado.',
    },
    thanks: 'Obrigado',
    thanksText:
      'A loja será avisada assim que o seu pagamento for liquidado. Você pode fechar esta página.',
  },
  tr: {
    sandbox: 'Test ortamı: burada para el değiştirmez.',
    title: amount => `${amount} ödeyin`,
    network: 'Ağ',
    mainNetworks: 'Ağlar',
    testNetworks: 'Test ağları: değeri olmayan coinler',
    buttons: {
      pay: 'Öde',
      hold: 'Öde, ama henüz sonuçlandırma',
      settle: 'Sonuçlandır',
      fail: 'Ödemeyi başarısız kıl',
      cancel: 'İptal et',
    },
    endings: {
      pending: 'Ödeme görüldü, henüz sonuçlanmadı.',
      successful: 'Ödeme sonuçlandı. Bu sayfayı kapatabilirsiniz.',
      unsuccessful: 'Ödeme başarısız oldu. Hiçbir tutar alınmadı.',
      expired: 'Ödeme süresi doldu. Hiçbir tutar alınmadı.',
      cancelled: 'Ödeme iptal edildi. Hiçbir tutar alınmadı.',
    },
    thanks: 'Teşekkürler',
    thanksText: 'Ödemeniz sonuçlanır sonuçlanmaz satıcıya bildirilir. Bu sayfayı kapatabilirsiniz.',
  },
  ar: {
    sandbox: 'بيئة اختبار: لا تنتقل أي أموال هنا.',
    title: amount => `ادفع ${amount}`,
    network: 'الشبكة',
    mainNetworks: 'الشبكات',
    testNetworks: 'شبكات الاختبار: عملات بلا قيمة',
    buttons: {
      pay: 'ادفع',
      hold: 'ادفع من دون تسوية الآن',
      settle: 'تسوية',
      fail: 'اجعل عملية الدفع تفشل',
      cancel: 'إلغاء',
    },
    endings: {
      pending: 'تم رصد الدفعة ولم تتم تسويتها بعد.',
      successful: 'تمت تسوية الدفعة. يمكنك إغلاق هذه الصفحة.',
      unsuccessful: 'فشلت عملية الدفع. لم يُخصم أي مبلغ.',
      expired: 'انتهت مهلة الدفع. لم يُخصم أي مبلغ.',
      cancelled: 'أُلغيت عملية الدفع. لم يُخصم أي مبلغ.',
    },
    thanks: 'شكرًا لك',
    thanksText: 'سيُبلَّغ المتجر فور تسوية دفعتك. يمكنك إغلاق هذه الصفحة.',
  },
  ja: {
    sandbox: 'サンドボックス：実際のお金は動きません。',
    title: amount => `${amount} のお支払い`,
    network: 'ネットワーク',
    mainNetworks: 'ネットワーク',
    testNetworks: 'テストネットワーク：価値のないコイン',
    buttons: {
      pay: '支払う',
      hold: '支払うが、まだ決済しない',
      settle: '決済する',
      fail: 'お支払いを失敗させる',
      cancel: 'キャンセルする',
    },
    endings: {
      pending: 'お支払いを検知しましたが、まだ決済されていません。',
      successful: '決済が完了しました。このページを閉じてもかまいません。',
      unsuccessful: 'お支払いに失敗しました。請求はありません。',
      expired: 'お支払いの期限が過ぎました。請求はありません。',
      cancelled: 'お支払いはキャンセルされました。請求はありません。',
    },
    thanks: 'ありがとうございます',
    thanksText: '決済が完了し次第、ショップに通知されます。このページを閉じてもかまいません。',
  },
};
