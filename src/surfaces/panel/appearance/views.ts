import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { EMAIL_MAXIMUM } from '#accounts/input.ts';
import { LOGO_BYTES_MAXIMUM, LOGO_PIXELS_MAXIMUM } from '#accounts/logo.ts';
import { requireMerchant } from '#accounts/merchants.ts';
import { findLogoHash } from '#storage/repositories/accounts/merchant-logos.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, renderField } from '../kit/form.ts';
import { ownUrl } from '../kit/navigation.ts';
import { renderFacts } from '../kit/table.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { EXAMPLE_STAGES, FIRST_STAGE } from './example.ts';
import { type AppearanceFields, accentOf, fieldsOf, pickerColor } from './form.ts';

/** Names the frame, for the forms that open in it. */
const FRAME = 'preview';
const FORM = 'appearance';

/** @param typed What was typed; null for what is saved. */
export async function appearancePage(
  request: FastifyRequest,
  deps: PanelDependencies,
  typed: AppearanceFields | null,
  fault: FormFault | null,
): Promise<PanelPage> {
  const words = texts(request);
  const { title, lead, usAccount } = words.appearance;
  const membership = membershipOf(request);
  const merchant = await requireMerchant(deps.db, membership.accountId);
  const hasLogo = (await findLogoHash(deps.db, membership.accountId)) !== null;
  const fields = typed ?? fieldsOf(merchant);
  const mayChange = isChangeAllowed(membership, 'appearance.set');
  const url = ownUrl(request, '/settings/appearance');
  return {
    title,
    lead,
    fault,
    content: html`${merchant.account_kind === 'us' && html`<p class="notice">${usAccount}</p>`}
<div class="beside">
${mayChange ? renderForm(words, url, fields, hasLogo, fault) : renderSaved(words, fields, hasLogo)}
${renderPreviewFrame(words, url, mayChange)}
</div>`,
  };
}

function renderForm(
  { appearance: words }: PanelTexts,
  url: string,
  fields: AppearanceFields,
  hasLogo: boolean,
  fault: FormFault | null,
): Html {
  const accent = accentOf(fields);
  const note = fields['shows-note'] === 'on';
  const isRemoved = fields['removes-logo'] === 'on';
  const optional = { required: false, autocomplete: 'off' };
  return html`<form method="post" action="${url}" enctype="multipart/form-data" class="stack" id="${FORM}">
${renderField({ ...optional, name: 'logo', label: words.logo, type: 'file', accept: 'image/png,image/webp', hint: words.logoHint(LOGO_BYTES_MAXIMUM / 1024, LOGO_PIXELS_MAXIMUM) }, fault)}
${fields.logo !== '' && html`<p class="quiet">${words.chooseAgain}</p>`}
${hasLogo && renderTick('removes-logo', words.removeLogo, isRemoved)}
${renderField({ ...optional, name: 'accent', label: words.accent, value: accent, hint: words.accentHint, placeholder: words.accentExample, beside: renderPicker(words.accentPicker, accent) }, fault)}
<input type="hidden" name="accent-shown" value="${accent}">
${renderField({ ...optional, name: 'support', label: words.support, value: fields.support, hint: words.supportHint, placeholder: words.supportExample, maxlength: EMAIL_MAXIMUM }, fault)}
${renderTick('shows-note', words.showsNote, note)}
<button>${words.save}</button>
</form>`;
}

/** The same colour to pick. The script makes it and the text follow each other. */
function renderPicker(label: string, accent: string): Html {
  return html`<input type="color" name="accent-picked" value="${pickerColor(accent)}" aria-label="${label}" data-text="accent">`;
}

function renderTick(name: keyof AppearanceFields, label: string, isTicked: boolean): Html {
  return html`<p class="check"><input type="checkbox" id="${name}" name="${name}" value="on"${isTicked && html` checked`}><label for="${name}">${label}</label></p>`;
}

/** What is saved, for people who may not change it. */
function renderSaved(
  { appearance: words }: PanelTexts,
  { accent, support, 'shows-note': note }: AppearanceFields,
  hasLogo: boolean,
): Html {
  return renderFacts([
    [words.logo, hasLogo ? words.has.logo : words.none],
    [words.accent, accent === '' ? words.usualColor : html`<code>${accent}</code>`],
    [words.support, support === '' ? words.none : support],
    [words.note, note === 'on' ? words.has.note : words.has.noNote],
  ]);
}

/**
 * The example in a frame, with a button for each page that it can show. A button sends the form as it is, into the
 * frame.
 */
function renderPreviewFrame(
  { appearance: { preview } }: PanelTexts,
  url: string,
  mayChange: boolean,
): Html {
  const target =
    mayChange && html` form="${FORM}" formaction="${url}/preview" formtarget="${FRAME}"`;
  const buttons = EXAMPLE_STAGES.map(
    stage =>
      html`<button class="plain" name="stage" value="${stage}"${target}${stage === FIRST_STAGE && html` data-first=""`}>${preview.stages[stage]}</button>`,
  );
  return html`<section aria-labelledby="preview-title"><h2 id="preview-title">${preview.title}</h2>
<p class="hint">${mayChange ? preview.hint : preview.hintSaved}</p>
${
  mayChange
    ? html`<div class="buttons">${buttons}</div>`
    : html`<form method="get" action="${url}/preview" target="${FRAME}" class="buttons">${buttons}</form>`
}
<iframe class="preview" name="${FRAME}" title="${preview.frame}" src="${url}/preview" sandbox="allow-same-origin"></iframe>
</section>`;
}
