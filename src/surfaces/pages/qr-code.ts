import encodeQR from 'qr';
import { type Html, html } from './html.ts';

/** Width of the blank margin that scanners need, in modules (ISO/IEC 18004). */
const QUIET_ZONE = 4;

/**
 * Renders a QR code as inline SVG, dark on white in every colour scheme, because many wallets cannot read
 * inverted codes.
 * @param label Description for screen readers.
 */
export function renderQrCode(text: string, label: string): Html {
  const modules = encodeQR(text, 'raw', { ecc: 'medium', border: QUIET_ZONE });
  const size = modules.length;
  // Neighbouring dark modules of a row are drawn as one shape.
  const rows = modules.map((row, y) =>
    [...row.map(Number).join('').matchAll(/1+/g)]
      .map(({ index: x, 0: { length } }) => `M${x} ${y}h${length}v1h-${length}z`)
      .join(''),
  );
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${rows.join('')}"/></svg>`;
}
