import { type Html, html } from '../../../pages/html.ts';

/** English, which every other language follows: a text that one of them lacks does not compile. */
export const en = {
  /** Replaces the name of a merchant without one, in sentences. */
  merchant: 'the merchant',
  simulation: 'Simulation: payments can be marked as paid without money.',
  /** On every page of a test merchant. */
  test: 'Test: no real money.',
  orderReference: 'Order',
  payment: 'Payment',
  request: 'Request',
  language: 'Language',
  opensNewTab: 'opens a new tab',
  fee: (order: string, fee: string) => `Order ${order} + service fee ${fee}`,
  testBadge: 'Test network: coins without value',

  /** Titles of the document. */
  titles: {
    choose: (total: string, merchant: string) => `Pay ${total} to ${merchant}`,
    waiting: (amount: string, merchant: string) => `Send ${amount} · ${merchant}`,
    overdue: (merchant: string) => `Time is up · ${merchant}`,
    confirming: (merchant: string) => `Payment seen · ${merchant}`,
    paid: (merchant: string) => `Paid · ${merchant}`,
    unsuccessful: (merchant: string) => `Payment unsuccessful · ${merchant}`,
    expired: (merchant: string) => `Time is up · ${merchant}`,
    cancelled: (merchant: string) => `Payment cancelled · ${merchant}`,
  },

  /** Read out by screen readers when the payment reaches a stage. */
  announcements: {
    choose: 'Choose how to pay.',
    lapsed: 'The price has lapsed. Choose again how to pay.',
    waiting: 'Waiting for your payment.',
    awaited: 'Too little was sent. Please send nothing more now.',
    underpaid: 'Too little has arrived. Please read the notice.',
    reversed: 'The network has undone your transfer.',
    overdue: 'Time is up. Do not send anything any more.',
    confirming: 'Your payment has been seen and is being confirmed.',
    paid: (total: string, merchant: string) => `Paid: ${total} to ${merchant}.`,
    unsuccessful: 'The payment was unsuccessful.',
    expired: 'The payment has expired.',
    cancelled: 'The payment has been cancelled.',
  },

  choose: {
    title: 'Choose how to pay',
    ways: 'Ways to pay',
    otherWays: 'Other ways to pay',
    nothing: (merchant: string) =>
      `There is no way to pay just now. Please try again later, or contact ${merchant}.`,
    lapsed: (merchant: string) =>
      `The price that was held for you has lapsed. Do not send anything to the address that was shown: choose again for a new price. If you have sent something already, contact ${merchant}.`,
    /** For parts that were sent to the payment's own address. */
    lapsedParts:
      'The price that was held for you has lapsed: choose again for a new price. What you have sent counts if you choose its network again.',
    chooseBefore: (time: Html) => html`Choose before ${time}`,
    /** What choosing does to the time left. */
    windows: 'Choosing fixes the price, and a new time to pay begins: it is shown beside each way.',
    window: (duration: string) => `${duration} to pay`,
    unavailable: 'not available just now',
    test: 'Test',
    search: 'Search coins and networks',
    noMatch: 'No coin or network is called that.',
    networkFees: {
      upTo: (amount: string) => `network fee usually under ${amount}`,
      high: 'network fee can be several dollars',
    },
  },

  waiting: {
    title: (amount: string) => `Send ${amount}`,
    titleMore: (amount: string) => `Send ${amount} more`,
    on: (network: string) => `on ${network}`,
    payBefore: (time: Html) => html`Pay before ${time}`,
    amount: 'Exact amount',
    address: 'Address',
    price: 'Price',
    /** @param since When the price was fixed. */
    rate: (rate: string, since: Html) => html`${rate}, fixed at ${since}`,
    openWallet: 'Open wallet',
    qrOfBoth: 'QR code of address and amount',
    qrOfAddress: 'QR code of the address',
    refusedCode: 'Does your wallet refuse the code?',
    plainCode:
      'This code and link contain only the address and the amount. Send exactly the amount shown.',
    warning: (amount: Html, network: Html) =>
      html`Send exactly ${amount} on ${network}, in one transfer. Another amount, coin or network may be lost. Your wallet’s network fee comes on top.`,
    ownAddress: (amount: Html, network: Html) =>
      html`Send ${amount} on ${network}. This address is for this payment alone: several transfers are fine. Another coin or network may be lost. Your wallet’s network fee comes on top.`,
    progress: 'Waiting for your payment.',
    notFinal: 'Not final yet.',
    live: 'This page updates by itself.',
    checkAgain: 'Check again',
    copy: 'Copy',
    copyAmount: 'Copy amount',
    copyAddress: 'Copy address',
    copyTransaction: 'Copy transaction',
    delayed: (network: string) =>
      `Transfers on ${network} are seen with a delay just now. Yours counts if it was sent in time.`,
    awaitedTitle: 'Too little was sent',
    awaited: (amount: string) =>
      `Your transfer has been seen, and is less than ${amount}. Please send nothing more now: once it is final, this page shows what is still due.`,
    tooLittle: 'Too little has arrived.',
    rest: (amount: string) =>
      `Send exactly ${amount} more, in one transfer and in time, to complete your payment.`,
    /** At an address of the payment alone, where parts add up. */
    ownRest: (amount: string) => `Send ${amount} more in time to complete your payment.`,
    restRaised: 'That is more than what is missing: wallets send no less.',
    asked: 'Asked for',
    received: 'Received',
    due: 'Still due',
    noRest: (amount: string, merchant: string) =>
      `Parts are not added up: send the exact amount of ${amount} in one transfer, and contact ${merchant} about what you have sent already.`,
    /** For parts that were sent to the payment's own address on another network. */
    partsElsewhere: (amount: string) =>
      `What you have sent counts if you choose its network again. Here, send the exact amount of ${amount} in one transfer.`,
    reversed: (network: string) => `${network} has undone your transfer.`,
    sendAgain: 'If the funds are back in your wallet, please send them again.',
  },

  confirmations: {
    unmined: 'Seen, waiting for a block.',
    blocks: (blocks: string, required: string) => `Blocks: ${blocks} of ${required}.`,
    finality: (duration: string) =>
      `In a block, waiting for the network’s finality, usually about ${duration}.`,
  },

  outcome: {
    paidTitle: 'Paid',
    paid: (merchant: string) => `${merchant} has received your payment. Thank you.`,
    confirmingTitle: 'Payment seen',
    confirming: (network: string) =>
      `Your transfer has been seen and is being confirmed by ${network}. You need not do anything more; you may close this page.`,
    overdueTitle: 'Time is up',
    overdue:
      'Do not send anything any more. We are checking for a payment that came at the last moment.',
    overdueDelayed: (network: string) =>
      `Do not send anything any more. Transfers on ${network} are seen with a delay just now, and this payment is still being checked: yours counts if it was sent in time.`,
    expired:
      'No payment arrived in time. Do not send anything to the address that was shown: nobody waits for it there any more.',
    cancelledTitle: 'Payment cancelled',
    cancelled: 'Nothing is to be paid. Do not send anything to an address that was shown.',
    unsuccessfulTitle: 'Payment unsuccessful',
    failures: {
      underpaid: 'Less than the amount asked for arrived before the time was up.',
      reverted: (network: string) => `The transaction failed on ${network}.`,
      other: 'The payment could not be completed.',
    },
    nextTitle: 'What you can do',
    startAgain: (merchant: string) => `To pay after all, start again at ${merchant}.`,
    sentAlready: (merchant: string) =>
      `If you have sent something already, contact ${merchant} and name the payment below and the transaction from your wallet.`,
    settle: (merchant: string) =>
      `Contact ${merchant} about what you have sent, and name the payment below.`,
    contact: (contact: Html) => html`Contact: ${contact}`,
    transaction: 'Transaction',
    explorer: (host: string) => `See it on ${host}`,
    returnTo: (merchant: string) => `Return to ${merchant}`,
    returning: (seconds: Html) => html`Returning in ${seconds} s.`,
    stay: 'Stay here',
  },

  receipt: {
    title: 'Receipt',
    to: 'Paid to',
    total: 'Amount',
    sent: 'Sent',
    network: 'Network',
    price: 'Price',
    when: 'When',
    print: 'Print',
  },

  /** What has arrived, transfer by transfer. */
  transfers: {
    title: 'What has arrived',
    /** @param count How many are older than those listed. */
    earlier: (count: string) => `Earlier transfers that are not listed: ${count}.`,
    /** How much was too much. */
    excess: (amount: string) => `In all ${amount} more than was asked for.`,
    seenAt: (time: Html) => html`Seen ${time}`,
    states: {
      seen: 'Not final yet',
      final: 'Final',
      reversed: 'Undone',
      failed: 'Failed',
    },
    countedFor: {
      whole: 'Pays this order in full.',
      tolerated: 'A little less than was asked for, which is accepted: it pays this order in full.',
      over: 'More than was asked for: it pays this order in full.',
      assigned: 'Credited to this order by hand.',
      first: 'The first part of this order. The rest is still due.',
      completed: 'The first part of this order.',
      rest: 'The rest: it completes this order.',
      elsewhere: 'Less than was asked for. It counts if you choose this network again.',
      too_little: 'Less than was asked for.',
      late: 'Arrived too late for this payment.',
      former: 'For an amount that was asked for before, whose price was not held any more.',
      again: 'Arrived after this payment had been paid.',
      unclear: 'What this was for is being looked at.',
      undone: 'The network has undone this transfer: it does not count.',
      failed: 'The transaction failed: nothing has arrived.',
    },
    /** What became of one that did not count. */
    became: {
      waits: (merchant: string) =>
        `It did not count. Contact ${merchant}, and name this transaction.`,
      settled: (merchant: string) =>
        `It did not count, and ${merchant} has dealt with it. Contact ${merchant} about it.`,
      returned: 'It has been returned by this transaction:',
    },
  },

  options: {
    change: 'Pay another way',
    changeWarning:
      'Do not change if you have sent something to the address above already: it would not be recognised any more.',
    cancel: 'Cancel payment',
    cancelWarning:
      'Do not cancel if you have sent something already: it would not be recognised any more.',
    confirmCancel: 'Yes, cancel this payment',
    simulate: 'Simulate (not in production)',
  },

  lookUp: {
    title: 'Already sent it? Look it up',
    label: 'Transaction hash from your wallet',
    button: 'Look up',
    shapes: {
      hex: '64 digits and letters from a to f',
      prefixed: '0x and 64 digits and letters from a to f',
      base58: '87 or 88 letters and digits',
    },
    unreadable: (network: string, shape: string) =>
      `This is not a transaction hash of ${network}, which is ${shape}. Copy it from your wallet’s history, and check that your wallet sent it on ${network}.`,
    unknown: (network: string) =>
      `We have not seen this transaction on ${network} yet. It can take a few minutes. Check that your wallet sent it on ${network}, to the address of this payment.`,
    seen: (network: string) => `We have seen this transaction on ${network}.`,
    notFinal: 'It is not final yet.',
    paid: 'This transaction has paid for your order.',
    less: (merchant: string) =>
      `This transaction has arrived, but it is less than the amount asked for. Contact ${merchant} about it.`,
    reversed: (network: string) =>
      `We saw this transaction, but ${network} has undone it. Check in your wallet whether the funds came back.`,
    failed: (network: string) => `This transaction failed on ${network}: nothing was transferred.`,
    notFound: (network: string) =>
      `${network} does not know this transaction. It can take a minute until a new one is known. Check that your wallet has sent it, and that it did so on ${network}.`,
    pending: (network: string) =>
      `${network} knows this transaction, which is waiting for a block. It counts once it is in one, if it pays the exact amount to this payment’s address.`,
    included: (network: string) =>
      `This transaction is in a block of ${network} and pays this payment’s address.`,
    counted: 'It will be counted shortly: there is nothing more to do.',
    replaced:
      'Another transaction has taken the place of this one. Look in your wallet’s history for the one that replaced it.',
    tooLittle: (merchant: string) =>
      `This transaction pays this payment’s address, but less than the amount asked for. Contact ${merchant} about it.`,
    tooLate: (merchant: string) =>
      `This transaction pays this payment’s address, but it arrived too late. Contact ${merchant} and name this hash.`,
    tooEarly: 'This transaction is older than this payment, so that it cannot have paid it.',
    otherAsset: (asset: string, network: string, merchant: string) =>
      `This transaction has sent something else to this payment’s address than ${asset} on ${network}. It did not pay this payment. Contact ${merchant} and name this hash.`,
    otherAddress: (network: string) =>
      `This transaction is on ${network}, but it has sent nothing to this payment’s address. Compare the address in your wallet’s history with the one that was shown here.`,
    untraceable: (merchant: string) =>
      `This transaction may have paid this payment’s address by a contract, which cannot be traced from here. Word of it has gone to ${merchant}, who will look into it.`,
    elsewhere: (merchant: string) =>
      `This transaction has reached us, but it did not count for this payment: it came too late, was of another amount, or belongs to another payment. Contact ${merchant} and name this hash.`,
  },

  /** Why a form was refused. */
  refusals: {
    unavailable:
      'This network is not available just now. Choose another one, or try again in a minute.',
    network: (reason: string) => `The network was not chosen: ${reason}.`,
    cancel: (reason: string) => `The payment was not cancelled: ${reason}.`,
    simulate: (reason: string) => `This cannot be simulated: ${reason}.`,
    /** By stage. Each completes a sentence after a colon. */
    reasons: {
      choose: 'it is not offered for this payment',
      waiting: 'it is not offered for this payment',
      overdue: 'its time is up',
      confirming: 'a transfer has been seen already',
      paid: 'it is paid',
      unsuccessful: 'it has ended',
      expired: 'its time is up',
      cancelled: 'it has been cancelled',
    },
  },

  /** Pages of failures: a title and what to do. */
  failures: {
    malformed: {
      title: 'This request cannot be read',
      text: 'Go back to the payment page, reload it and try again.',
    },
    tooLarge: {
      title: 'This request is too large',
      text: 'Your browser sends too much along with it, most likely cookies. Delete this site’s cookies, then open the link again.',
    },
    conflict: {
      title: 'This is not possible any more',
      text: 'The payment has moved on. Go back to its page and reload it.',
    },
    missing: {
      title: 'There is no such payment page',
      text: 'Check that the whole link was copied, or go back to the shop and start again.',
    },
    unavailable: {
      title: 'Not available just now',
      text: 'Please try again in a minute. Do not send a payment a second time.',
    },
    tooMany: {
      title: 'Too many requests',
      text: 'Please wait a minute, then reload the page.',
    },
    broken: {
      title: 'Something went wrong on our side',
      text: 'Please try again in a minute. Do not send a payment a second time.',
    },
  },

  /** What the page's script writes. `{0}` stands for what it fills in. */
  script: {
    leftToChoose: '{0} left to choose',
    leftToPay: '{0} left to pay',
    timeIsUp: 'Time is up',
    offline: 'You are offline. This page goes on when you are back.',
    unreachable: 'The payment service cannot be reached. Trying again…',
    copied: 'Copied',
    pressCopy: 'Press the copy keys to copy it.',
  },
};

/** Everything that a checkout says, in one language. */
export type CheckoutTexts = typeof en;
