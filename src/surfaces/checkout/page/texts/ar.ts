import { html } from '../../../pages/html.ts';
import type { CheckoutTexts } from './en.ts';

/** Keeps inserted text, mostly Latin, from being reordered with the Arabic around it. */
const isolate = (text: string) => `\u2068${text}\u2069`;

export const ar: CheckoutTexts = {
  merchant: 'المتجر',
  simulation: 'محاكاة: يمكن وضع علامة «مدفوعة» على عمليات الدفع من دون إرسال أموال.',
  test: 'اختبار: لا توجد أموال حقيقية.',
  orderReference: 'رقم الطلب',
  payment: 'رقم عملية الدفع',
  request: 'الرقم المرجعي',
  language: 'اللغة',
  opensNewTab: 'يفتح علامة تبويب جديدة',
  fee: (order, fee) => `قيمة الطلب ${isolate(order)} + رسوم الخدمة ${isolate(fee)}`,
  testBadge: 'شبكة اختبار: عملات بلا قيمة',

  titles: {
    choose: (total, merchant) => `ادفع ${isolate(total)} إلى ${isolate(merchant)}`,
    waiting: (amount, merchant) => `أرسل ${isolate(amount)} · ${isolate(merchant)}`,
    overdue: merchant => `انتهى الوقت · ${isolate(merchant)}`,
    confirming: merchant => `تم رصد الدفعة · ${isolate(merchant)}`,
    paid: merchant => `تم الدفع · ${isolate(merchant)}`,
    unsuccessful: merchant => `لم تنجح عملية الدفع · ${isolate(merchant)}`,
    expired: merchant => `انتهى الوقت · ${isolate(merchant)}`,
    cancelled: merchant => `أُلغيت عملية الدفع · ${isolate(merchant)}`,
  },

  announcements: {
    choose: 'اختر طريقة الدفع.',
    lapsed: 'انتهت صلاحية السعر. اختر طريقة الدفع من جديد.',
    waiting: 'بانتظار دفعتك.',
    awaited: 'المبلغ المرسل أقل من المطلوب. يُرجى عدم إرسال أي شيء آخر الآن.',
    underpaid: 'المبلغ الذي وصل أقل من المطلوب. يُرجى قراءة التنبيه.',
    reversed: 'ألغت الشبكة تحويلك.',
    overdue: 'انتهى الوقت. لا ترسل أي شيء بعد الآن.',
    confirming: 'تم رصد دفعتك ويجري تأكيدها.',
    paid: (total, merchant) => `تم الدفع: ${isolate(total)} إلى ${isolate(merchant)}.`,
    unsuccessful: 'لم تنجح عملية الدفع.',
    expired: 'انتهت صلاحية عملية الدفع.',
    cancelled: 'أُلغيت عملية الدفع.',
  },

  choose: {
    title: 'اختر طريقة الدفع',
    ways: 'طرق الدفع',
    otherWays: 'طرق دفع أخرى',
    nothing: merchant =>
      `لا تتوفر أي طريقة للدفع حاليًا. يُرجى المحاولة لاحقًا أو التواصل مع ${isolate(merchant)}.`,
    lapsed: merchant =>
      `انتهت صلاحية السعر المحجوز لك. لا ترسل أي شيء إلى العنوان الذي عُرض عليك: اختر من جديد للحصول على سعر جديد. إذا كنت قد أرسلت شيئًا بالفعل، فتواصل مع ${isolate(merchant)}.`,
    lapsedParts:
      'انتهت صلاحية السعر المحجوز لك: اختر من جديد للحصول على سعر جديد. ما أرسلته يُحتسب إذا اخترت الشبكة نفسها من جديد.',
    chooseBefore: time => html`اختر قبل <bdi>${time}</bdi>`,
    windows: 'عند الاختيار يثبت السعر وتبدأ مهلة جديدة للدفع، وهي مذكورة بجانب كل طريقة.',
    window: duration => `مهلة الدفع: ${duration}`,
    unavailable: 'غير متاحة حاليًا',
    test: 'اختبار',
    search: 'ابحث عن عملة أو شبكة',
    noMatch: 'لا توجد عملة أو شبكة بهذا الاسم.',
    networkFees: {
      upTo: amount => `رسوم الشبكة عادةً أقل من ${isolate(amount)}`,
      high: 'قد تبلغ رسوم الشبكة عدة دولارات',
    },
  },

  waiting: {
    title: amount => `أرسل ${isolate(amount)}`,
    titleMore: amount => `أرسل مبلغًا إضافيًا: ${isolate(amount)}`,
    on: network => `على شبكة ${isolate(network)}`,
    payBefore: time => html`ادفع قبل <bdi>${time}</bdi>`,
    amount: 'المبلغ بالضبط',
    address: 'العنوان',
    price: 'السعر',
    rate: (rate, since) => html`<bdi>${rate}</bdi>، ثُبّت السعر عند الساعة <bdi>${since}</bdi>`,
    openWallet: 'فتح المحفظة',
    qrOfBoth: 'رمز QR للعنوان والمبلغ',
    qrOfAddress: 'رمز QR للعنوان',
    refusedCode: 'هل ترفض محفظتك الرمز؟',
    plainCode: 'يحتوي هذا الرمز وهذا الرابط على العنوان والمبلغ فقط. أرسل المبلغ المعروض بالضبط.',
    warning: (amount, network) =>
      html`أرسل <bdi>${amount}</bdi> بالضبط على شبكة <bdi>${network}</bdi>، في تحويل واحد. إذا اختلف المبلغ أو العملة أو الشبكة، فقد يضيع ما ترسله. وتُخصم رسوم الشبكة من محفظتك فوق هذا المبلغ.`,
    ownAddress: (amount, network) =>
      html`أرسل <bdi>${amount}</bdi> على شبكة <bdi>${network}</bdi>. هذا العنوان مخصص لهذه الدفعة وحدها: يمكنك الدفع بعدة تحويلات. إذا اختلفت العملة أو الشبكة، فقد يضيع ما ترسله. وتُخصم رسوم الشبكة من محفظتك فوق هذا المبلغ.`,
    progress: 'بانتظار دفعتك.',
    notFinal: 'لم يصبح الدفع نهائيًا بعد.',
    live: 'تُحدَّث هذه الصفحة تلقائيًا.',
    checkAgain: 'تحقّق مرة أخرى',
    copy: 'نسخ',
    copyAmount: 'نسخ المبلغ',
    copyAddress: 'نسخ العنوان',
    copyTransaction: 'نسخ المعاملة',
    delayed: network =>
      `تظهر التحويلات على شبكة ${isolate(network)} متأخرة حاليًا. سيُحتسب تحويلك إذا أُرسل في الوقت المحدد.`,
    awaitedTitle: 'المبلغ المرسل أقل من المطلوب',
    awaited: amount =>
      `تم رصد تحويلك، وهو أقل من ${isolate(amount)}. يُرجى عدم إرسال أي شيء آخر الآن: عندما يصبح التحويل نهائيًا، ستعرض هذه الصفحة المبلغ المتبقي.`,
    tooLittle: 'المبلغ الذي وصل أقل من المطلوب.',
    rest: amount =>
      `لإكمال الدفع، أرسل مبلغًا إضافيًا قدره ${isolate(amount)} بالضبط، في تحويل واحد وقبل انتهاء الوقت.`,
    ownRest: amount => `لإكمال الدفع، أرسل مبلغًا إضافيًا قدره ${isolate(amount)} قبل انتهاء الوقت.`,
    restRaised: 'هذا أكثر مما ينقص: لا ترسل المحافظ أقل من ذلك.',
    asked: 'المطلوب',
    received: 'المستلَم',
    due: 'المتبقي',
    noRest: (amount, merchant) =>
      `لا تُجمع المبالغ الجزئية: أرسل ${isolate(amount)} بالضبط في تحويل واحد، وتواصل مع ${isolate(merchant)} بشأن ما أرسلته من قبل.`,
    partsElsewhere: amount =>
      `ما أرسلته من قبل يُحتسب إذا اخترت شبكته من جديد. أما على هذه الشبكة فأرسل ${isolate(amount)} بالضبط في تحويل واحد.`,
    reversed: network => `ألغت شبكة ${isolate(network)} تحويلك.`,
    sendAgain: 'إذا عادت الأموال إلى محفظتك، فيُرجى إرسالها من جديد.',
  },

  confirmations: {
    unmined: 'تم الرصد، بانتظار الإدراج في كتلة.',
    blocks: (blocks, required) => `الكتل: ${blocks} من ${required}.`,
    finality: duration =>
      `تم الإدراج في كتلة، بانتظار التأكيد النهائي من الشبكة. المدة المعتادة تقريبًا: ${duration}.`,
  },

  outcome: {
    paidTitle: 'تم الدفع',
    paid: merchant => `وصلت دفعتك إلى ${isolate(merchant)}. شكرًا لك.`,
    confirmingTitle: 'تم رصد الدفعة',
    confirming: network =>
      `تم رصد تحويلك ويجري تأكيده على شبكة ${isolate(network)}. لا يلزمك فعل أي شيء آخر، ويمكنك إغلاق هذه الصفحة.`,
    overdueTitle: 'انتهى الوقت',
    overdue: 'لا ترسل أي شيء بعد الآن. نتحقق مما إذا كانت قد وصلت دفعة في اللحظة الأخيرة.',
    overdueDelayed: network =>
      `لا ترسل أي شيء بعد الآن. تظهر التحويلات على شبكة ${isolate(network)} متأخرة حاليًا، وما زال التحقق من عملية الدفع هذه جاريًا: سيُحتسب تحويلك إذا أُرسل في الوقت المحدد.`,
    expired:
      'لم تصل أي دفعة في الوقت المحدد. لا ترسل أي شيء إلى العنوان الذي عُرض عليك: لم يعد أحد ينتظر الدفع عليه.',
    cancelledTitle: 'أُلغيت عملية الدفع',
    cancelled: 'لا يوجد ما يجب دفعه. لا ترسل أي شيء إلى أي عنوان عُرض عليك.',
    unsuccessfulTitle: 'لم تنجح عملية الدفع',
    failures: {
      underpaid: 'المبلغ الذي وصل قبل انتهاء الوقت أقل من المطلوب.',
      reverted: network => `فشلت المعاملة على شبكة ${isolate(network)}.`,
      other: 'تعذّر إكمال عملية الدفع.',
    },
    nextTitle: 'ما الذي يمكنك فعله',
    startAgain: merchant => `إذا كنت لا تزال تريد الدفع، فابدأ من جديد لدى ${isolate(merchant)}.`,
    sentAlready: merchant =>
      `إذا كنت قد أرسلت شيئًا بالفعل، فتواصل مع ${isolate(merchant)} واذكر رقم عملية الدفع أدناه والمعاملة من محفظتك.`,
    settle: merchant =>
      `تواصل مع ${isolate(merchant)} بشأن ما أرسلته، واذكر رقم عملية الدفع أدناه.`,
    contact: contact => html`للتواصل: ${contact}`,
    transaction: 'المعاملة',
    explorer: host => `عرض المعاملة على ${isolate(host)}`,
    returnTo: merchant => `العودة إلى ${isolate(merchant)}`,
    returning: seconds => html`ستتم العودة بعد ${seconds} ث.`,
    stay: 'البقاء هنا',
  },

  receipt: {
    title: 'الإيصال',
    to: 'دُفع إلى',
    total: 'المبلغ',
    sent: 'المرسَل',
    network: 'الشبكة',
    price: 'السعر',
    when: 'التاريخ والوقت',
    print: 'طباعة',
  },

  transfers: {
    title: 'ما وصل',
    earlier: count => `تحويلات أقدم غير معروضة هنا: ${isolate(count)}.`,
    excess: amount => `المجموع يزيد على المطلوب بمقدار ${amount}.`,
    seenAt: time => html`رُصد: <bdi>${time}</bdi>`,
    states: {
      seen: 'لم يصبح نهائيًا بعد',
      final: 'نهائي',
      reversed: 'أُلغي',
      failed: 'فشل',
    },
    countedFor: {
      whole: 'يدفع قيمة هذا الطلب كاملةً.',
      tolerated: 'أقل قليلًا من المطلوب، وهو مقبول: يدفع قيمة هذا الطلب كاملةً.',
      over: 'أكثر من المطلوب: يدفع قيمة هذا الطلب كاملةً.',
      assigned: 'احتُسب لهذا الطلب يدويًا.',
      first: 'الجزء الأول من قيمة هذا الطلب. ما زال الباقي مطلوبًا.',
      completed: 'الجزء الأول من قيمة هذا الطلب.',
      rest: 'الباقي: به اكتملت قيمة هذا الطلب.',
      elsewhere: 'أقل من المبلغ المطلوب. يُحتسب إذا اخترت هذه الشبكة من جديد.',
      too_little: 'أقل من المبلغ المطلوب.',
      late: 'وصل متأخرًا جدًا عن عملية الدفع هذه.',
      former: 'لمبلغ طُلب من قبل، ولم يعد سعره محجوزًا.',
      again: 'وصل بعد أن سُدِّدت عملية الدفع هذه.',
      unclear: 'يجري التحقق من الغرض من هذا التحويل.',
      undone: 'ألغت الشبكة هذا التحويل: لا يُحتسب.',
      failed: 'فشلت المعاملة: لم يصل أي شيء.',
    },
    became: {
      waits: merchant => `لم يُحتسب. تواصل مع ${isolate(merchant)} واذكر هذه المعاملة.`,
      settled: merchant =>
        `لم يُحتسب، وقد عالج ${isolate(merchant)} الأمر. تواصل مع ${isolate(merchant)} بشأنه.`,
      returned: 'أُعيد بهذه المعاملة:',
    },
  },

  options: {
    change: 'الدفع بطريقة أخرى',
    changeWarning:
      'لا تغيّر طريقة الدفع إذا كنت قد أرسلت شيئًا بالفعل إلى العنوان أعلاه: لن يتم التعرّف عليه بعد ذلك.',
    cancel: 'إلغاء عملية الدفع',
    cancelWarning: 'لا تُلغِ عملية الدفع إذا كنت قد أرسلت شيئًا بالفعل: لن يتم التعرّف عليه بعد ذلك.',
    confirmCancel: 'نعم، ألغِ عملية الدفع هذه',
    simulate: 'محاكاة (ليست في بيئة الإنتاج)',
  },

  lookUp: {
    title: 'هل أرسلت المبلغ بالفعل؟ ابحث عنه',
    label: 'هاش المعاملة من محفظتك',
    button: 'بحث',
    shapes: {
      hex: '64 خانة من الأرقام والحروف من a إلى f',
      prefixed: '0x تليها 64 خانة من الأرقام والحروف من a إلى f',
      base58: '87 أو 88 خانة من الحروف والأرقام',
    },
    unreadable: (network, shape) =>
      `هذا ليس هاش معاملة على شبكة ${isolate(network)}، فالهاش على هذه الشبكة يتكوّن من ${shape}. انسخه من سجل محفظتك، وتأكد من أن محفظتك أرسلت المعاملة على شبكة ${isolate(network)}.`,
    unknown: network =>
      `لم نرصد هذه المعاملة على شبكة ${isolate(network)} بعد. قد يستغرق ذلك بضع دقائق. تأكد من أن محفظتك أرسلتها على شبكة ${isolate(network)} وإلى عنوان عملية الدفع هذه.`,
    seen: network => `رصدنا هذه المعاملة على شبكة ${isolate(network)}.`,
    notFinal: 'لم تصبح نهائية بعد.',
    paid: 'تم دفع قيمة طلبك بهذه المعاملة.',
    less: merchant =>
      `وصلت هذه المعاملة، لكنها أقل من المبلغ المطلوب. تواصل مع ${isolate(merchant)} بشأنها.`,
    reversed: network =>
      `رصدنا هذه المعاملة، لكن شبكة ${isolate(network)} ألغتها. تحقّق في محفظتك مما إذا كانت الأموال قد عادت.`,
    failed: network => `فشلت هذه المعاملة على شبكة ${isolate(network)}: لم يُحوَّل أي شيء.`,
    notFound: network =>
      `هذه المعاملة غير معروفة على شبكة ${isolate(network)}. قد تمر دقيقة حتى تُعرف المعاملة الجديدة. تأكد من أن محفظتك أرسلتها، وأنها أرسلتها على شبكة ${isolate(network)}.`,
    pending: network =>
      `هذه المعاملة معروفة على شبكة ${isolate(network)} وتنتظر إدراجها في كتلة. ستُحتسب بعد إدراجها إذا كانت تدفع المبلغ بالضبط إلى عنوان عملية الدفع هذه.`,
    included: network =>
      `هذه المعاملة مُدرجة في كتلة على شبكة ${isolate(network)}، وتدفع إلى عنوان عملية الدفع هذه.`,
    counted: 'ستُحتسب المعاملة قريبًا: لا يلزمك فعل أي شيء آخر.',
    replaced: 'حلّت معاملة أخرى محل هذه المعاملة. ابحث في سجل محفظتك عن المعاملة التي حلّت محلها.',
    tooLittle: merchant =>
      `هذه المعاملة تدفع إلى عنوان عملية الدفع هذه، لكن بأقل من المبلغ المطلوب. تواصل مع ${isolate(merchant)} بشأنها.`,
    tooLate: merchant =>
      `هذه المعاملة تدفع إلى عنوان عملية الدفع هذه، لكنها وصلت متأخرة. تواصل مع ${isolate(merchant)} واذكر هذا الهاش.`,
    tooEarly: 'هذه المعاملة أقدم من عملية الدفع هذه، لذا لا يمكن أن تكون قد سدّدتها.',
    otherAsset: (asset, network, merchant) =>
      `أرسلت هذه المعاملة إلى عنوان عملية الدفع هذه شيئًا آخر غير ${isolate(asset)} على شبكة ${isolate(network)}. لم تُسدَّد بها عملية الدفع هذه. تواصل مع ${isolate(merchant)} واذكر هذا الهاش.`,
    otherAddress: network =>
      `هذه المعاملة موجودة على شبكة ${isolate(network)}، لكنها لم ترسل أي شيء إلى عنوان عملية الدفع هذه. قارن العنوان في سجل محفظتك بالعنوان الذي عُرض هنا.`,
    untraceable: merchant =>
      `ربما دفعت هذه المعاملة إلى عنوان عملية الدفع هذه عبر عقد ذكي، ولا يمكن تتبّع ذلك من هنا. تم إبلاغ ${isolate(merchant)} بالأمر، وسيُنظر فيه هناك.`,
    elsewhere: merchant =>
      `وصلتنا هذه المعاملة، لكنها لم تُحتسب لعملية الدفع هذه: وصلت متأخرة، أو كانت بمبلغ مختلف، أو تخص عملية دفع أخرى. تواصل مع ${isolate(merchant)} واذكر هذا الهاش.`,
  },

  refusals: {
    unavailable: 'هذه الشبكة غير متاحة حاليًا. اختر شبكة أخرى، أو حاول مرة أخرى بعد دقيقة.',
    network: reason => `لم يتم اختيار الشبكة: ${reason}.`,
    cancel: reason => `لم تُلغَ عملية الدفع: ${reason}.`,
    simulate: reason => `لا يمكن محاكاة هذا: ${reason}.`,
    reasons: {
      choose: 'هذا غير متاح لعملية الدفع هذه',
      waiting: 'هذا غير متاح لعملية الدفع هذه',
      overdue: 'انتهى وقت الدفع',
      confirming: 'تم رصد تحويل بالفعل',
      paid: 'تم الدفع بالفعل',
      unsuccessful: 'انتهت عملية الدفع',
      expired: 'انتهى وقت الدفع',
      cancelled: 'أُلغيت عملية الدفع',
    },
  },

  failures: {
    malformed: {
      title: 'تعذّرت قراءة البيانات المرسلة',
      text: 'ارجع إلى صفحة الدفع، وأعد تحميلها وحاول مرة أخرى.',
    },
    tooLarge: {
      title: 'البيانات المرسلة كبيرة جدًا',
      text: 'يرسل متصفحك بيانات أكثر من اللازم، وهي على الأرجح ملفات تعريف الارتباط. احذف ملفات تعريف الارتباط لهذا الموقع، ثم افتح الرابط مرة أخرى.',
    },
    conflict: {
      title: 'لم يعد هذا ممكنًا',
      text: 'تغيّرت حالة عملية الدفع. ارجع إلى صفحتها وأعد تحميلها.',
    },
    missing: {
      title: 'لا توجد صفحة دفع كهذه',
      text: 'تأكد من نسخ الرابط كاملًا، أو ارجع إلى المتجر وابدأ من جديد.',
    },
    unavailable: {
      title: 'غير متاح حاليًا',
      text: 'يُرجى المحاولة مرة أخرى بعد دقيقة. لا ترسل الدفعة مرة ثانية.',
    },
    tooMany: {
      title: 'محاولات كثيرة جدًا',
      text: 'يُرجى الانتظار دقيقة، ثم إعادة تحميل الصفحة.',
    },
    broken: {
      title: 'حدث خطأ من جانبنا',
      text: 'يُرجى المحاولة مرة أخرى بعد دقيقة. لا ترسل الدفعة مرة ثانية.',
    },
  },

  script: {
    leftToChoose: 'الوقت المتبقي للاختيار: {0}',
    leftToPay: 'الوقت المتبقي للدفع: {0}',
    timeIsUp: 'انتهى الوقت',
    offline: 'أنت غير متصل بالإنترنت. ستواصل هذه الصفحة عملها عند عودة الاتصال.',
    unreachable: 'يتعذّر الوصول إلى خدمة الدفع. تجري المحاولة من جديد…',
    copied: 'تم النسخ',
    pressCopy: 'اضغط على مفاتيح النسخ لنسخه.',
  },
};
