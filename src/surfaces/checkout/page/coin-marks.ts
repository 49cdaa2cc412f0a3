import { pricedAsset } from '#payments/rates/assets.ts';
import { type Html, html } from '../../pages/html.ts';

/** Marks of the assets, drawn in 32 × 32: a disc in the asset's colour with its sign. */
const MARKS: ReadonlyMap<string, Html> = new Map([
  [
    'BTC',
    html`<circle cx="16" cy="16" r="16" fill="#f7931a"/><g fill="none" stroke="#fff" stroke-width="2.4" stroke-linejoin="round"><path d="M12 9.2h5.4a3.2 3.2 0 0 1 0 6.6H12zm0 6.6h6.2a3.5 3.5 0 0 1 0 7H12z"/><path d="M10 9.2h3M10 22.8h3M14 6.4v2.8m3.4-2.8v2.8M14 22.8v2.8m3.4-2.8v2.8"/></g>`,
  ],
  [
    'ETH',
    html`<circle cx="16" cy="16" r="16" fill="#5b6dc9"/><path fill="#fff" d="M16 4.5l7 11.6-7 4.2-7-4.2z"/><path fill="#c9d0f2" d="M16 4.5v15.8l7-4.2z"/><path fill="#fff" d="M16 27.5l7-9.8-7 4.1-7-4.1z"/>`,
  ],
  [
    'BNB',
    html`<circle cx="16" cy="16" r="16" fill="#f0b90b"/><path fill="#fff" d="M16 5.8l4.3 4.3-2.2 2.2-2.1-2.1-2.1 2.1-2.2-2.2zM8 13.8l2.2 2.2L8 18.2 5.8 16zm16 0l2.2 2.2-2.2 2.2-2.2-2.2zm-8-.1l2.3 2.3-2.3 2.3-2.3-2.3zm-2.1 5.9l2.1 2.1 2.1-2.1 2.2 2.2-4.3 4.4-4.3-4.4z"/>`,
  ],
  [
    'AVAX',
    html`<circle cx="16" cy="16" r="16" fill="#e84142"/><path fill="#fff" d="M15 7.2c.5-.9 1.5-.9 2 0l1.9 3.4c.3.6.3 1.3 0 1.9l-5.5 9.7c-.4.6-1 1-1.7 1H7.6c-1.1 0-1.6-.8-1-1.7zM20.6 17c.5-.9 1.5-.9 2 0l2.9 4.5c.5.9 0 1.7-1 1.7h-5.8c-1 0-1.6-.8-1-1.7z"/>`,
  ],
  [
    'SOL',
    html`<circle cx="16" cy="16" r="16" fill="#1c1430"/><path fill="#19e3a2" d="M10.6 9.2h14l-3.2 3.4h-14z"/><path fill="#6f8cf5" d="M7.4 14.3h14l3.2 3.4h-14z"/><path fill="#a45cf6" d="M10.6 19.4h14l-3.2 3.4h-14z"/>`,
  ],
  [
    'TRX',
    html`<circle cx="16" cy="16" r="16" fill="#d9222a"/><path fill="none" stroke="#fff" stroke-width="1.8" stroke-linejoin="round" d="M7.5 8l13.9 2.6 4 3.6L14.6 26zm0 0l8 8.3m-.9 9.7l.9-9.7 5.9-5.7m-5.9 5.7l9.9-2.1"/>`,
  ],
  [
    'USDC',
    html`<circle cx="16" cy="16" r="16" fill="#2775ca"/><g fill="none" stroke="#fff" stroke-linecap="round"><path stroke-width="2" d="M12.4 6.3a10.3 10.3 0 0 0 0 19.4m7.2-19.4a10.3 10.3 0 0 1 0 19.4"/><path stroke-width="2.2" d="M19.2 13.2c-.3-1.5-1.5-2.3-3.2-2.3-1.9 0-3.2.9-3.2 2.4 0 3.5 6.6 1.7 6.6 5.3 0 1.6-1.4 2.5-3.4 2.5-1.9 0-3.2-.9-3.5-2.5M16 8.7v2.2m0 10.2v2.2"/></g>`,
  ],
  [
    'USDT',
    html`<circle cx="16" cy="16" r="16" fill="#26a17b"/><g fill="none" stroke="#fff"><path stroke-width="3" d="M9 9.6h14M16 9.6v15.4"/><ellipse cx="16" cy="15.6" rx="8.6" ry="2.4" stroke-width="1.5"/></g>`,
  ],
]);

/** The mark of an asset; a test asset has that of the real one, an unknown asset a plain disc. */
export function renderCoinMark(symbol: string): Html {
  const mark = MARKS.get(pricedAsset(symbol)) ?? html`<circle cx="16" cy="16" r="16" fill="#888"/>`;
  return html`<svg class="coin" viewBox="0 0 32 32" aria-hidden="true">${mark}</svg>`;
}
