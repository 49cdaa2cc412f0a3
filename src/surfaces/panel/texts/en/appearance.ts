/** Settings → Appearance: what payers see of a merchant. */
export const appearance = {
  title: 'Appearance',
  lead: 'What your customers see of you when they pay. A change takes effect with the next page that they open.',
  usAccount:
    'Customers of a US account pay on the page of its processor, which shows none of this.',
  logo: 'Logo',
  logoHint: (kib: number, pixels: number) =>
    `PNG or WebP, up to ${kib} KiB and ${pixels} pixels a side. It is served unchanged: remove its metadata first, such as the place of a photo.`,
  removeLogo: 'Remove the logo',
  chooseAgain: 'Choose the logo again: your browser does not keep it.',
  accent: 'Accent colour',
  accentHint:
    'On buttons and links: pick it, or write it as #rrggbb. Where it could not be read, a darker or lighter shade of it is used. Empty for the usual colour.',
  accentExample: '#7c3aed',
  accentPicker: 'Pick the accent colour',
  support: 'Support contact',
  supportHint:
    'Whom customers ask when a payment has failed: an e-mail address or an https address. Empty for none.',
  supportExample: 'help@shop.example.com',
  showsNote: 'Show customers the note of a payment',
  save: 'Save',
  saved: 'Saved: your customers see it on the next page that they open.',
  unchanged: 'Nothing was changed.',
  none: 'none',
  usualColor: 'the usual one',
  has: { logo: 'shown', note: 'shown', noNote: 'not shown' },
  note: 'Note of a payment',
  faults: {
    logo: (reason: string) => `This image ${reason}.`,
    logoTooLarge: (bytes: number) => `This image has too many bytes: at most ${bytes} are taken.`,
    accent: 'Write the colour as # and six hex digits, such as #7c3aed.',
    support: 'The contact is an e-mail address, or an address that begins with https://.',
  },
  preview: {
    title: 'Preview',
    hint: 'An example with what is in the form, saved or not. Nothing on it can be pressed or paid.',
    hintSaved: 'An example. Nothing on it can be pressed or paid.',
    frame: 'Example of the checkout',
    stages: { choose: 'Choosing a coin', waiting: 'Paying', paid: 'Paid', expired: 'Not paid' },
    /** Above the example itself. */
    example: 'Example: nothing here can be paid.',
    reference: 'A-1042',
    noteText: 'Two bags of espresso, ground',
  },
};
