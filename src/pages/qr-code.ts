import QRCode from 'qrcode';
import { type Html, html } from './html.ts';

/** Width of the blank margin that scanners need, in modules (ISO/IEC 18004). */
const QUIET_ZONE = 4;

/**
 * Renders a QR code as inline SVG. It is dark on white in every colour scheme, because many wallets cannot
 * read inverted codes.
 * @param label Description for screen readers.
 */
export function renderQrCode(text: string, label: string): Html {
  const { modules } = QRCode.create(text, { errorCorrectionLevel: 'M' });
  const size = modules.size + 2 * QUIET_ZONE;
  const rows = Array.from({ length: modules.size }, (_, y) =>
    runs(modules.size, x => modules.get(y, x) === 1)
      .map(({ start, length }) => {
        return `M${start + QUIET_ZONE} ${y + QUIET_ZONE}h${length}v1h-${length}z`;
      })
      .join(''),
  );
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${rows.join('')}"/></svg>`;
}

/** Joins neighbouring dark modules of a row, so that each run is drawn as one shape. */
function runs(length: number, isDark: (x: number) => boolean) {
  const found: { start: number; length: number }[] = [];
  for (let x = 0; x < length; x += 1) {
    if (!isDark(x)) continue;
    const last = found.at(-1);
    if (last !== undefined && last.start + last.length === x) last.length += 1;
    else found.push({ start: x, length: 1 });
  }
  return found;
}
