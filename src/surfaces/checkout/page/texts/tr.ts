import { html } from '../../../pages/html.ts';
import type { CheckoutTexts } from './en.ts';

export const tr: CheckoutTexts = {
  merchant: 'satıcı',
  simulation: 'Simülasyon: ödemeler, para gönderilmeden ödenmiş olarak işaretlenebilir.',
  test: 'Test: gerçek para kullanılmaz.',
  orderReference: 'Sipariş no',
  payment: 'Ödeme no',
  request: 'İstek no',
  language: 'Dil',
  opensNewTab: 'yeni sekmede açılır',
  fee: (order, fee) => `Sipariş ${order} + hizmet bedeli ${fee}`,
  testBadge: 'Test ağı: buradaki kripto paraların değeri yok',

  titles: {
    choose: (total, merchant) => `${total} ödeyin · ${merchant}`,
    waiting: (amount, merchant) => `${amount} gönderin · ${merchant}`,
    overdue: merchant => `Süre doldu · ${merchant}`,
    confirming: merchant => `Ödeme görüldü · ${merchant}`,
    paid: merchant => `Ödendi · ${merchant}`,
    unsuccessful: merchant => `Ödeme başarısız · ${merchant}`,
    expired: merchant => `Süre doldu · ${merchant}`,
    cancelled: merchant => `Ödeme iptal edildi · ${merchant}`,
  },

  announcements: {
    choose: 'Ödeme yöntemini seçin.',
    lapsed: 'Fiyatın süresi doldu. Ödeme yöntemini yeniden seçin.',
    waiting: 'Ödemeniz bekleniyor.',
    awaited: 'Eksik tutar gönderildi. Lütfen şimdi başka bir şey göndermeyin.',
    underpaid: 'Eksik tutar geldi. Lütfen uyarıyı okuyun.',
    reversed: 'Ağ, transferinizi geri aldı.',
    overdue: 'Süre doldu. Artık hiçbir şey göndermeyin.',
    confirming: 'Ödemeniz görüldü ve onaylanıyor.',
    paid: (total, merchant) => `Ödendi: ${total}. Ödemeniz ${merchant} tarafından alındı.`,
    unsuccessful: 'Ödeme başarısız oldu.',
    expired: 'Ödemenin süresi doldu.',
    cancelled: 'Ödeme iptal edildi.',
  },

  choose: {
    title: 'Ödeme yöntemini seçin',
    ways: 'Ödeme yöntemleri',
    otherWays: 'Diğer ödeme yöntemleri',
    nothing: merchant =>
      `Şu anda kullanılabilecek bir ödeme yöntemi yok. Lütfen daha sonra yeniden deneyin veya ${merchant} ile iletişime geçin.`,
    lapsed: merchant =>
      `Sizin için tutulan fiyatın süresi doldu. Daha önce gösterilen adrese hiçbir şey göndermeyin: yeni bir fiyat için yeniden seçim yapın. Zaten bir şey gönderdiyseniz ${merchant} ile iletişime geçin.`,
    lapsedParts:
      'Sizin için tutulan fiyatın süresi doldu: yeni bir fiyat için yeniden seçim yapın. Gönderdikleriniz, aynı ağı yeniden seçerseniz sayılır.',
    chooseBefore: time => html`Seçim için son saat: ${time}`,
    windows:
      'Seçim yaptığınızda fiyat sabitlenir ve yeni bir ödeme süresi başlar; bu süre her yöntemin yanında yazar.',
    window: duration => `ödeme süresi: ${duration}`,
    unavailable: 'şu anda kullanılamıyor',
    test: 'Test',
    search: 'Kripto para veya ağ ara',
    noMatch: 'Bu adda bir kripto para veya ağ yok.',
    networkFees: {
      upTo: amount => `ağ ücreti genellikle ${amount} altında`,
      high: 'ağ ücreti birkaç dolar olabilir',
    },
  },

  waiting: {
    title: amount => `${amount} gönderin`,
    titleMore: amount => `${amount} daha gönderin`,
    on: network => `Ağ: ${network}`,
    payBefore: time => html`Ödeme için son saat: ${time}`,
    amount: 'Tam tutar',
    address: 'Adres',
    price: 'Fiyat',
    rate: (rate, since) => html`${rate}, sabitlendiği saat: ${since}`,
    openWallet: 'Cüzdanı aç',
    qrOfBoth: 'Adresin ve tutarın QR kodu',
    qrOfAddress: 'Adresin QR kodu',
    refusedCode: 'Cüzdanınız kodu reddediyor mu?',
    plainCode:
      'Bu kod ve bağlantı yalnızca adresi ve tutarı içerir. Tam olarak gösterilen tutarı gönderin.',
    warning: (amount, network) =>
      html`${network} ağında, tek transferde, tam olarak ${amount} gönderin. Tutar, kripto para veya ağ farklı olursa gönderdiğiniz kaybolabilir. Cüzdanınızın ağ ücreti bu tutarın dışında ayrıca alınır.`,
    ownAddress: (amount, network) =>
      html`${network} ağında ${amount} gönderin. Bu adres yalnızca bu ödeme içindir: birden fazla transfer yapabilirsiniz. Kripto para veya ağ farklı olursa gönderdiğiniz kaybolabilir. Cüzdanınızın ağ ücreti bu tutarın dışında ayrıca alınır.`,
    progress: 'Ödemeniz bekleniyor.',
    notFinal: 'Henüz kesinleşmedi.',
    live: 'Bu sayfa kendiliğinden güncellenir.',
    checkAgain: 'Yeniden kontrol et',
    copy: 'Kopyala',
    copyAmount: 'Tutarı kopyala',
    copyAddress: 'Adresi kopyala',
    copyTransaction: 'İşlemi kopyala',
    delayed: network =>
      `${network} ağındaki transferler şu anda gecikmeli görülüyor. Zamanında gönderildiyse transferiniz geçerli sayılır.`,
    awaitedTitle: 'Eksik tutar gönderildi',
    awaited: amount =>
      `Transferiniz görüldü, ancak ${amount} tutarından az. Lütfen şimdi başka bir şey göndermeyin: transfer kesinleşince kalan tutar bu sayfada gösterilir.`,
    tooLittle: 'Eksik tutar geldi.',
    rest: amount =>
      `Ödemenizi tamamlamak için tek transferde ve süresi içinde tam olarak ${amount} daha gönderin.`,
    ownRest: amount => `Ödemenizi tamamlamak için süresi içinde ${amount} daha gönderin.`,
    restRaised: 'Bu, eksik olandan fazladır: cüzdanlar daha azını göndermez.',
    asked: 'İstenen',
    received: 'Gelen',
    due: 'Kalan',
    noRest: (amount, merchant) =>
      `Parça parça gönderilenler toplanmaz: tek transferde tam olarak ${amount} gönderin ve daha önce gönderdikleriniz için ${merchant} ile iletişime geçin.`,
    partsElsewhere: amount =>
      `Daha önce gönderdikleriniz, gönderdiğiniz ağı yeniden seçerseniz sayılır. Bu ağda tek transferde tam olarak ${amount} gönderin.`,
    reversed: network => `Transferiniz ${network} ağı tarafından geri alındı.`,
    sendAgain: 'Para cüzdanınıza geri döndüyse lütfen yeniden gönderin.',
  },

  confirmations: {
    unmined: 'Görüldü, bir bloğa girmesi bekleniyor.',
    blocks: (blocks, required) => `Blok: ${blocks} / ${required}.`,
    finality: duration =>
      `Bir bloğa girdi, ağda kesinleşmesi bekleniyor; bu genellikle yaklaşık ${duration} sürer.`,
  },

  outcome: {
    paidTitle: 'Ödendi',
    paid: merchant => `Ödemeniz ${merchant} tarafından alındı. Teşekkür ederiz.`,
    confirmingTitle: 'Ödeme görüldü',
    confirming: network =>
      `Transferiniz görüldü ve ${network} ağı tarafından onaylanıyor. Başka bir şey yapmanız gerekmiyor; bu sayfayı kapatabilirsiniz.`,
    overdueTitle: 'Süre doldu',
    overdue:
      'Artık hiçbir şey göndermeyin. Son anda gelen bir ödeme olup olmadığını kontrol ediyoruz.',
    overdueDelayed: network =>
      `Artık hiçbir şey göndermeyin. ${network} ağındaki transferler şu anda gecikmeli görülüyor ve bu ödeme hâlâ kontrol ediliyor: zamanında gönderildiyse transferiniz geçerli sayılır.`,
    expired:
      'Süresi içinde ödeme gelmedi. Daha önce gösterilen adrese hiçbir şey göndermeyin: o adreste artık ödeme beklenmiyor.',
    cancelledTitle: 'Ödeme iptal edildi',
    cancelled:
      'Ödemeniz gereken bir şey yok. Daha önce gösterilen adreslere hiçbir şey göndermeyin.',
    unsuccessfulTitle: 'Ödeme başarısız',
    failures: {
      underpaid: 'Süre dolmadan önce gelen tutar, istenenden az.',
      reverted: network => `İşlem ${network} ağında başarısız oldu.`,
      other: 'Ödeme tamamlanamadı.',
    },
    nextTitle: 'Ne yapabilirsiniz?',
    startAgain: merchant => `Yine de ödemek isterseniz ${merchant} üzerinden yeniden başlayın.`,
    sentAlready: merchant =>
      `Zaten bir şey gönderdiyseniz ${merchant} ile iletişime geçin; aşağıdaki ödeme numarasını ve cüzdanınızdaki işlemi belirtin.`,
    settle: merchant =>
      `Gönderdikleriniz için ${merchant} ile iletişime geçin ve aşağıdaki ödeme numarasını belirtin.`,
    contact: contact => html`İletişim: ${contact}`,
    transaction: 'İşlem',
    explorer: host => `${host} sitesinde görüntüle`,
    returnTo: merchant => `Geri dön: ${merchant}`,
    returning: seconds => html`${seconds} sn sonra geri dönülecek.`,
    stay: 'Burada kal',
  },

  receipt: {
    title: 'Makbuz',
    to: 'Ödemeyi alan',
    total: 'Tutar',
    sent: 'Gönderilen',
    network: 'Ağ',
    price: 'Fiyat',
    when: 'Tarih ve saat',
    print: 'Yazdır',
  },

  transfers: {
    title: 'Gelen transferler',
    earlier: count => `Burada gösterilmeyen daha eski transferler: ${count}.`,
    excess: amount => `Toplamda istenenden ${amount} fazla.`,
    seenAt: time => html`Görüldü: ${time}`,
    states: {
      seen: 'Henüz kesinleşmedi',
      final: 'Kesinleşti',
      reversed: 'Geri alındı',
      failed: 'Başarısız',
    },
    countedFor: {
      whole: 'Bu siparişin tamamını öder.',
      tolerated: 'İstenenden biraz az, ancak kabul edilir: bu siparişin tamamını öder.',
      over: 'İstenenden fazla: bu siparişin tamamını öder.',
      assigned: 'Bu siparişe elle sayıldı.',
      first: 'Bu siparişin ilk kısmı. Kalanı henüz ödenmedi.',
      completed: 'Bu siparişin ilk kısmı.',
      rest: 'Kalan kısım: bu siparişin ödemesini tamamlar.',
      elsewhere: 'İstenenden az. Bu ağı yeniden seçerseniz sayılır.',
      too_little: 'İstenenden az.',
      late: 'Bu ödeme için çok geç geldi.',
      former: 'Daha önce istenen ve fiyatı artık geçerli olmayan bir tutar için.',
      again: 'Bu ödeme tamamlandıktan sonra geldi.',
      unclear: 'Ne için gönderildiği inceleniyor.',
      undone: 'Ağ bu transferi geri aldı: ödemeye sayılmaz.',
      failed: 'İşlem başarısız oldu: hiçbir şey gelmedi.',
    },
    became: {
      waits: merchant =>
        `Ödemeye sayılmadı. ${merchant} ile iletişime geçin ve bu işlemi belirtin.`,
      settled: merchant =>
        `Ödemeye sayılmadı; ${merchant} bununla ilgilendi. Bilgi için ${merchant} ile iletişime geçin.`,
      returned: 'Şu işlemle geri gönderildi:',
    },
  },

  options: {
    change: 'Başka bir yöntemle öde',
    changeWarning:
      'Yukarıdaki adrese zaten bir şey gönderdiyseniz yöntemi değiştirmeyin: gönderdiğiniz artık tanınmaz.',
    cancel: 'Ödemeyi iptal et',
    cancelWarning:
      'Zaten bir şey gönderdiyseniz ödemeyi iptal etmeyin: gönderdiğiniz artık tanınmaz.',
    confirmCancel: 'Evet, bu ödemeyi iptal et',
    simulate: 'Simüle et (canlı ortamda yok)',
  },

  lookUp: {
    title: 'Zaten gönderdiniz mi? Sorgulayın',
    label: 'Cüzdanınızdaki işlem hash’i',
    button: 'Sorgula',
    shapes: {
      hex: 'rakamlardan ve a–f harflerinden oluşan 64 karakter',
      prefixed: '0x ve ardından rakamlardan ve a–f harflerinden oluşan 64 karakter',
      base58: 'harf ve rakamlardan oluşan 87 veya 88 karakter',
    },
    unreadable: (network, shape) =>
      `Bu, ${network} ağına ait bir işlem hash’i değil. Bu ağda işlem hash’i şöyledir: ${shape}. Hash’i cüzdanınızın geçmişinden kopyalayın ve cüzdanınızın işlemi ${network} ağında gönderdiğinden emin olun.`,
    unknown: network =>
      `Bu işlemi ${network} ağında henüz görmedik. Bu birkaç dakika sürebilir. Cüzdanınızın işlemi ${network} ağında ve bu ödemenin adresine gönderdiğinden emin olun.`,
    seen: network => `Bu işlemi ${network} ağında gördük.`,
    notFinal: 'Henüz kesinleşmedi.',
    paid: 'Siparişiniz bu işlemle ödendi.',
    less: merchant =>
      `Bu işlem ulaştı, ancak istenen tutardan az. Bunun için ${merchant} ile iletişime geçin.`,
    reversed: network =>
      `Bu işlemi gördük, ancak ${network} ağı işlemi geri aldı. Paranın geri gelip gelmediğini cüzdanınızdan kontrol edin.`,
    failed: network => `Bu işlem ${network} ağında başarısız oldu: hiçbir şey aktarılmadı.`,
    notFound: network =>
      `${network} ağı bu işlemi tanımıyor. Yeni bir işlemin tanınması bir dakika sürebilir. Cüzdanınızın işlemi gönderdiğinden ve bunu ${network} ağında yaptığından emin olun.`,
    pending: network =>
      `${network} ağı bu işlemi tanıyor; işlem bir bloğa girmeyi bekliyor. Bu ödemenin adresine tam tutarı ödüyorsa, bir bloğa girince geçerli sayılır.`,
    included: network =>
      `Bu işlem ${network} ağında bir bloğa girdi ve bu ödemenin adresine ödeme yapıyor.`,
    counted: 'Kısa süre içinde hesaba katılacak: yapmanız gereken başka bir şey yok.',
    replaced:
      'Bu işlemin yerini başka bir işlem aldı. Yerine geçen işlemi cüzdanınızın geçmişinde arayın.',
    tooLittle: merchant =>
      `Bu işlem bu ödemenin adresine ödeme yapıyor, ancak tutarı istenenden az. Bunun için ${merchant} ile iletişime geçin.`,
    tooLate: merchant =>
      `Bu işlem bu ödemenin adresine ödeme yapıyor, ancak çok geç geldi. Lütfen ${merchant} ile iletişime geçin ve bu hash’i belirtin.`,
    tooEarly: 'Bu işlem bu ödemeden daha eski, bu nedenle bu ödeme bu işlemle yapılmış olamaz.',
    otherAsset: (asset, network, merchant) =>
      `Bu işlem, bu ödemenin adresine ${network} ağındaki ${asset} yerine başka bir şey gönderdi. Bu ödeme bu işlemle yapılmadı. Lütfen ${merchant} ile iletişime geçin ve bu hash’i belirtin.`,
    otherAddress: network =>
      `Bu işlem ${network} ağında, ancak bu ödemenin adresine hiçbir şey göndermedi. Cüzdanınızın geçmişindeki adresi burada gösterilen adresle karşılaştırın.`,
    untraceable: merchant =>
      `Bu işlem, bu ödemenin adresine bir akıllı sözleşme üzerinden ödeme yapmış olabilir; bu, buradan izlenemiyor. Bu konuda ${merchant} bilgilendirildi ve işlemi inceleyecek.`,
    elsewhere: merchant =>
      `Bu işlem bize ulaştı, ancak bu ödeme için sayılmadı: çok geç geldi, tutarı farklıydı veya başka bir ödemeye ait. Lütfen ${merchant} ile iletişime geçin ve bu hash’i belirtin.`,
  },

  refusals: {
    unavailable:
      'Bu ağ şu anda kullanılamıyor. Başka bir ağ seçin veya bir dakika sonra yeniden deneyin.',
    network: reason => `Ağ seçilmedi: ${reason}.`,
    cancel: reason => `Ödeme iptal edilmedi: ${reason}.`,
    simulate: reason => `Bu simüle edilemez: ${reason}.`,
    reasons: {
      choose: 'bu ödeme için sunulmuyor',
      waiting: 'bu ödeme için sunulmuyor',
      overdue: 'ödemenin süresi doldu',
      confirming: 'bir transfer zaten görüldü',
      paid: 'ödeme zaten yapıldı',
      unsuccessful: 'ödeme sona erdi',
      expired: 'ödemenin süresi doldu',
      cancelled: 'ödeme iptal edilmiş',
    },
  },

  failures: {
    malformed: {
      title: 'Bu istek okunamıyor',
      text: 'Ödeme sayfasına geri dönün, sayfayı yenileyin ve tekrar deneyin.',
    },
    tooLarge: {
      title: 'Bu istek çok büyük',
      text: 'Tarayıcınız istekle birlikte çok fazla veri gönderiyor, büyük olasılıkla çerezler. Bu sitenin çerezlerini silin ve bağlantıyı yeniden açın.',
    },
    conflict: {
      title: 'Bu artık mümkün değil',
      text: 'Ödemenin durumu değişti. Ödeme sayfasına geri dönüp sayfayı yenileyin.',
    },
    missing: {
      title: 'Böyle bir ödeme sayfası yok',
      text: 'Bağlantının tamamının kopyalandığından emin olun veya mağazaya dönüp yeniden başlayın.',
    },
    unavailable: {
      title: 'Şu anda kullanılamıyor',
      text: 'Lütfen bir dakika sonra yeniden deneyin. Ödemeyi ikinci kez göndermeyin.',
    },
    tooMany: {
      title: 'Çok fazla istek',
      text: 'Lütfen bir dakika bekleyin, ardından sayfayı yenileyin.',
    },
    broken: {
      title: 'Bizden kaynaklanan bir sorun oluştu',
      text: 'Lütfen bir dakika sonra yeniden deneyin. Ödemeyi ikinci kez göndermeyin.',
    },
  },

  script: {
    leftToChoose: 'Seçim için kalan süre: {0}',
    leftToPay: 'Ödeme için kalan süre: {0}',
    timeIsUp: 'Süre doldu',
    offline: 'İnternet bağlantınız yok. Bağlantı geri gelince bu sayfa devam eder.',
    unreachable: 'Ödeme hizmetine ulaşılamıyor. Yeniden deneniyor…',
    copied: 'Kopyalandı',
    pressCopy: 'Kopyalamak için kopyalama tuşlarına basın.',
  },
};
