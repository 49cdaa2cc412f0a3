import { type Static, Type } from '@sinclair/typebox';
import { NAME_MAXIMUM, parseName } from '#accounts/input.ts';
import type { RemedyOf, Return } from '#onchain/settlement/inbox.ts';
import type { Remedy } from '#storage/database/deposit-tables.ts';
import { type Html, html } from '../../../pages/html.ts';
import { type Field, type FormFault, FormRefused, renderField } from '../../kit/form.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';

/** How money was returned. */
export const ReturnForm = Type.Object({
  to: Type.String(),
  hash: Type.String(),
  note: Type.String(),
});
type ReturnFields = Static<typeof ReturnForm>;

/** A form that dismisses. Browsers leave `remedy` out while none is chosen. */
export const RemedyForm = Type.Object({
  remedy: Type.String({ default: '' }),
  ...ReturnForm.properties,
});
export type RemedyFields = Static<typeof RemedyForm>;

const CHOICES: readonly Remedy[] = ['returned', 'kept', 'other'];

const NO_FIELDS: RemedyFields = { remedy: '', to: '', hash: '', note: '' };

/**
 * How the money was returned.
 * @throws FormRefused
 */
export function readReturn(words: PanelTexts, fields: ReturnFields): Return {
  const { faults } = words.unmatched.remedy;
  const note = readNote(words, fields);
  const [to, hash] = [fields.to.trim(), fields.hash.trim()];
  if (parseName(to) === undefined) throw new FormRefused('to', faults.to);
  if (parseName(hash) === undefined || /\s/.test(hash)) throw new FormRefused('hash', faults.hash);
  return { to, hash, note };
}

/**
 * What was done with the money.
 * @throws FormRefused
 */
export function readRemedy(words: PanelTexts, fields: RemedyFields): RemedyOf {
  const { faults } = words.unmatched.remedy;
  const note = readNote(words, fields);
  switch (fields.remedy) {
    case 'returned':
      return { remedy: 'returned', ...readReturn(words, fields) };
    case 'kept':
      return { remedy: 'kept', note };
    case 'other':
      if (note === undefined) throw new FormRefused('note', faults.noteNeeded);
      return { remedy: 'other', note };
    default:
      throw new FormRefused('returned', faults.choice);
  }
}

/** undefined for an empty note. */
function readNote({ unmatched }: PanelTexts, { note: text }: ReturnFields): string | undefined {
  const note = text.trim();
  if (note === '') return undefined;
  const name = parseName(note);
  if (name !== undefined) return name;
  throw new FormRefused('note', unmatched.remedy.faults.note(NAME_MAXIMUM));
}

/** The questions of a form that dismisses. */
export function renderRemedy(
  { unmatched: { remedy: texts } }: PanelTexts,
  problem: FormFault | null,
  fields: RemedyFields = NO_FIELDS,
): Html {
  return html`<fieldset><legend>${texts.question}</legend>
${problem?.field === 'returned' && html`<p class="fault" id="remedy-fault">${problem.message}</p>`}
${CHOICES.map(
  value =>
    html`<p class="check"><input type="radio" id="${value}" name="remedy" value="${value}"${fields.remedy === value && html` checked`}> <label for="${value}">${texts.choices[value]}</label></p>`,
)}
${renderReturn(texts, false, problem, fields)}
</fieldset>`;
}

/**
 * The fields that ask how money was returned.
 * @param isRequired Whether it was certainly returned, so that the fields must be filled in.
 */
export function renderReturn(
  labels: Readonly<Record<keyof ReturnFields, Pick<Field, 'label' | 'hint'>>>,
  isRequired: boolean,
  problem: FormFault | null,
  fields: ReturnFields = NO_FIELDS,
): Html {
  const text = (name: keyof ReturnFields, required: boolean) =>
    renderField(
      { name, ...labels[name], value: fields[name], required, maxlength: NAME_MAXIMUM },
      problem,
    );
  return html`${text('to', isRequired)}
${text('hash', isRequired)}
${text('note', false)}`;
}
