import { toDollarText } from '#payments/dollars.ts';
import { PRICE_SCALE } from '#payments/rates/price.ts';
import { formatBaseUnits } from '#payments/token-amount.ts';
import { html } from '../../pages/html.ts';

/** Decimals of a price in dollars: cents, or more below a dollar. */
const PRICE_DECIMALS = 2;
const SMALL_PRICE_DECIMALS = 6;
/** More than any asset has. */
const TOKEN_DECIMALS = 20;
/** Decimals of the scaled prices. */
const SCALE_DECIMALS = 18;

/** How a language writes amounts, numbers, times and durations. */
export type Format = ReturnType<typeof createFormat>;

const formats = new Map<string, Format>();

/**
 * The formats of a locale, cached. Times are UTC; the page's script shows them in the reader's time zone.
 * @param locale BCP 47 tag.
 */
export function formatIn(locale: string): Format {
  const format = formats.get(locale) ?? createFormat(locale);
  formats.set(locale, format);
  return format;
}

function createFormat(locale: string) {
  const dollars = inDollars(locale);
  const smallPrice = inDollars(locale, SMALL_PRICE_DECIMALS);
  // Without grouping: a thousands separator could be taken for a decimal one.
  const tokens = new Intl.NumberFormat(locale, {
    maximumFractionDigits: TOKEN_DECIMALS,
    useGrouping: false,
  });
  const number = new Intl.NumberFormat(locale);
  const unit = (name: 'second' | 'minute') =>
    new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'long' });
  const [seconds, minutes] = [unit('second'), unit('minute')];
  const times = { timeZone: 'UTC', timeStyle: 'short' } as const;
  const time = new Intl.DateTimeFormat(locale, times);
  const dateTime = new Intl.DateTimeFormat(locale, { ...times, dateStyle: 'medium' });
  // Intl formats decimal text exactly, unlike a floating-point number.
  const exact = (text: string) => text as Intl.StringNumericLiteral;
  const inOrder = isRightToLeft(locale) ? isolate : (text: string) => text;
  const plain = (units: bigint, decimals: number) =>
    tokens.format(exact(formatBaseUnits(units, decimals)));
  return {
    /** 123456 cents is $1,234.56 in English. */
    dollars: (cents: number) => inOrder(dollars.format(exact(toDollarText(cents)))),
    /** An exact amount of an asset with all its digits, from an integer in its smallest unit. */
    tokens: plain,
    /** The same with its asset: `0.0125 ETH`. Number and unit stay on one line and in this order. */
    amount: (units: bigint, decimals: number, symbol: string) =>
      inOrder(`${plain(units, decimals)}\u00a0${symbol}`),
    /** An amount that may change until it is fixed: `≈ 0.0125 ETH`. */
    about: (units: bigint, decimals: number, symbol: string) =>
      inOrder(`≈\u00a0${plain(units, decimals)}\u00a0${symbol}`),
    /** Dollars for one whole unit, from an integer scaled by 1e18. */
    price(scaled: bigint) {
      const format = scaled < PRICE_SCALE ? smallPrice : dollars;
      return inOrder(format.format(exact(formatBaseUnits(scaled, SCALE_DECIMALS))));
    },
    number: (value: number) => number.format(value),
    /** For a time within a day, such as a deadline. */
    timeOfDay: (date: Date) =>
      html`<time datetime="${date.toISOString()}" data-time>${time.format(date)} UTC</time>`,
    dateAndTime: (date: Date) =>
      html`<time datetime="${date.toISOString()}">${dateTime.format(date)} UTC</time>`,
    /** In seconds below a minute, else in minutes. */
    duration(milliseconds: number) {
      const whole = Math.round(milliseconds / 1000);
      const text = whole < 60 ? seconds.format(whole) : minutes.format(Math.round(whole / 60));
      // Keeps the number on one line with its unit.
      return text.replaceAll(' ', '\u00a0');
    },
  };
}

function inDollars(locale: string, maximumFractionDigits = PRICE_DECIMALS): Intl.NumberFormat {
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    // In right-to-left text, the sign of `US$` would change sides.
    currencyDisplay: isRightToLeft(locale) ? 'code' : 'symbol',
    maximumFractionDigits,
  });
}

function isRightToLeft(locale: string): boolean {
  return locale.startsWith('ar');
}

/**
 * Keeps number and unit of an amount in this order, as wallets show them. In right-to-left text, the letters around
 * them would decide the order.
 */
function isolate(text: string): string {
  return `\u2066${text.replaceAll(/[\u200e\u200f]/g, '')}\u2069`;
}
