import { framedPageHeaders } from '#http/security-headers.ts';
import { CHECKOUT_PREFIX } from '#payments/checkout-path.ts';
import type { MerchantLogosTable } from '#storage/database/account-tables.ts';
import type { Network } from '#storage/database/network-tables.ts';
import { renderCheckout } from '../../checkout/page/checkout-page.ts';
import { ENGLISH } from '../../checkout/page/locale.ts';
import { PANEL_PREFIX } from '../kit/assets.ts';
import type { FormFault } from '../kit/form.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { type ExampleStage, exampleCheckout } from './example.ts';

/** Where the checkout's files are served below the panel, whose host may serve nothing else. */
const FILES_BASE = '/preview';
/** The same with the checkout's own prefix, relative to the panel's. */
export const CHECKOUT_FILES = `${FILES_BASE}${CHECKOUT_PREFIX}`;

/** A logo that is not saved has no URL, so the page embeds it as `data:`. */
export const PREVIEW_POLICY = framedPageHeaders("style-src 'self'", "img-src 'self' data:");

interface PreviewParts {
  readonly stage: ExampleStage;
  readonly name: string;
  /** Whether it is a test merchant's. */
  readonly isTest: boolean;
  readonly supportContact: string | null;
  readonly accentColor: string | null;
  readonly showsNote: boolean;
  readonly logo: Pick<MerchantLogosTable, 'type' | 'content'> | null;
  /** Faults of fields; their saved values are shown instead. */
  readonly faults: readonly FormFault[];
  readonly networks: readonly Network[];
  readonly now: Date;
  /** The path that a proxy serves the panel under; empty at the root. */
  readonly basePath: string;
}

/**
 * An example of a checkout page, rendered by the code of the real ones. It has no script, and nothing on it works.
 */
export function renderPreview(words: PanelTexts, parts: PreviewParts): string {
  const { stage, logo, faults, networks, now, ...shop } = parts;
  const basePath = `${parts.basePath}${PANEL_PREFIX}${FILES_BASE}`;
  const { example } = words.appearance.preview;
  return renderCheckout({
    checkout: exampleCheckout(words, stage, { ...shop, logoHash: null }, networks, now),
    logoUrl: logo && `data:${logo.type};base64,${logo.content.toString('base64')}`,
    example: [example, ...faults.map(({ message }) => message)].join(' '),
    path: `${basePath}${CHECKOUT_PREFIX}/example`,
    stage,
    now,
    basePath,
    locale: ENGLISH,
    notice: null,
    lookUp: null,
    simulation: false,
  });
}
