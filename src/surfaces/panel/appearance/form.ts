import { type Static, Type } from '@sinclair/typebox';
import { parseColor, parseContact } from '#accounts/input.ts';
import { ImageRefused, type Logo, parseLogo } from '#accounts/logo.ts';
import type { MerchantChange } from '#accounts/merchants.ts';
import type { Refusal } from '#errors/refusals/refused.ts';
import { wordRefusal } from '#errors/refusals/wording.ts';
import { StringEnum } from '#schemas/scalars.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { FormFault } from '../kit/form.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

/** Where a merchant has chosen no accent colour: that of light pages in base.css. */
const USUAL_ACCENT = '#0f766e';

const ticked = Type.Optional(StringEnum(['', 'on'], 'Whether it is so.'));

export const AppearanceForm = Type.Object({
  support: Type.String(),
  accent: Type.String(),
  /** The colour of the picker beside the text, and the text that the form was shown with. */
  'accent-picked': Type.Optional(Type.String()),
  'accent-shown': Type.Optional(Type.String()),
  'shows-note': ticked,
  /** The file in base64; empty if none was chosen. */
  logo: Type.String({ default: '' }),
  'removes-logo': ticked,
});
export type AppearanceFields = Static<typeof AppearanceForm>;

/** Changes to what payers see of a merchant; a field that is undefined stays as it is. */
type AppearanceChange = Pick<
  MerchantChange,
  'supportContact' | 'accentColor' | 'showsNote' | 'logo'
>;

/** The form's fields with the saved values. */
export function fieldsOf({
  support_contact: support,
  accent_color: accent,
  shows_note: showsNote,
}: Merchant): AppearanceFields {
  return {
    support: support ?? '',
    accent: accent ?? '',
    logo: '',
    ...(showsNote ? { 'shows-note': 'on' } : {}),
  };
}

/** What a form changes, and its faults in the order of the page. A field with a fault changes nothing. */
export function readAppearance(
  { appearance: { faults: sentences }, refusals }: PanelTexts,
  fields: AppearanceFields,
  saved: Merchant,
): { readonly change: AppearanceChange; readonly faults: readonly FormFault[] } {
  const faults: FormFault[] = [];
  const refuse = (field: keyof AppearanceFields, message: string) => {
    faults.push({ field, message });
  };
  const logo = readLogo(fields, refusal =>
    refuse('logo', sentences.logo(wordRefusal(refusals, refusal))),
  );
  const accent = orNone(accentOf(fields), parseColor);
  if (accent === undefined) refuse('accent', sentences.accent);
  const support = orNone(fields.support, parseContact);
  if (support === undefined) refuse('support', sentences.support);
  const showsNote = fields['shows-note'] === 'on';
  const change = {
    logo,
    accentColor: accent === saved.accent_color ? undefined : accent,
    supportContact: support === saved.support_contact ? undefined : support,
    showsNote: showsNote === saved.shows_note ? undefined : showsNote,
  };
  return { change, faults };
}

/**
 * The accent colour as text. The picker's colour counts if it was changed and the text beside it was not: without a
 * script they do not follow each other.
 */
export function accentOf({
  accent,
  'accent-shown': shown = '',
  'accent-picked': picked = pickerColor(shown),
}: AppearanceFields): string {
  return accent === shown && picked !== pickerColor(shown) ? picked : accent;
}

/** What the picker beside a text shows, which has no empty state. */
export function pickerColor(text: string): string {
  return parseColor(text.trim()) ?? USUAL_ACCENT;
}

/** null for an empty field, undefined for one that is not accepted. */
function orNone(text: string, parse: (text: string) => string | undefined) {
  const trimmed = text.trim();
  return trimmed === '' ? null : parse(trimmed);
}

/**
 * The logo that was chosen; null to remove the present one, undefined to leave it.
 * @param refuse Called with what is wrong with the image.
 */
function readLogo(
  { logo, 'removes-logo': removes }: AppearanceFields,
  refuse: (refusal: Refusal) => void,
): Logo | null | undefined {
  if (logo === '') return removes === 'on' ? null : undefined;
  try {
    return parseLogo(Buffer.from(logo, 'base64'));
  } catch (error) {
    if (!(error instanceof ImageRefused)) throw error;
    refuse(error.refusal);
    return undefined;
  }
}
