import { type Static, Type } from '@sinclair/typebox';
import { NAME_MAXIMUM, parseName } from '#accounts/input.ts';
import type { RemedyOf, Return } from '#onchain/settlement/inbox.ts';
import type { Remedy } from '#storage/database/deposit-tables.ts';
import { type Html, html } from '../../../pages/html.ts';
import { type Field, type FormFault, renderField } from '../../kit/form.ts';
import { texts } from '../../texts/index.ts';

const { remedy: remedyTexts } = texts.unmatched;
const { faults } = remedyTexts;

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

/** How the money was returned, or why the form is refused. */
export function readReturn(fields: ReturnFields): Return | FormFault {
  const note = readNote(fields);
  if (typeof note === 'object') return note;
  const [to, hash] = [fields.to.trim(), fields.hash.trim()];
  if (parseName(to) === undefined) return fault('to', faults.to);
  if (parseName(hash) === undefined || /\s/.test(hash)) return fault('hash', faults.hash);
  return { to, hash, note };
}

/** What was done with the money, or why the form is refused. */
export function readRemedy(fields: RemedyFields): RemedyOf | FormFault {
  const note = readNote(fields);
  if (typeof note === 'object') return note;
  switch (fields.remedy) {
    case 'returned': {
      const given = readReturn(fields);
      return 'field' in given ? given : { remedy: 'returned', ...given };
    }
    case 'kept':
      return { remedy: 'kept', note };
    case 'other':
      return note === undefined ? fault('note', faults.noteNeeded) : { remedy: 'other', note };
    default:
      return fault('returned', faults.choice);
  }
}

/** undefined for an empty note. */
function readNote({ note: text }: Pick<ReturnFields, 'note'>): string | undefined | FormFault {
  const note = text.trim();
  if (note === '') return undefined;
  return parseName(note) ?? fault('note', faults.note(NAME_MAXIMUM));
}

function fault(field: string, message: string): FormFault {
  return { field, message };
}

/** The questions of a form that dismisses. */
export function renderRemedy(problem: FormFault | null, fields: RemedyFields = NO_FIELDS): Html {
  return html`<fieldset><legend>${remedyTexts.question}</legend>
${problem?.field === 'returned' && html`<p class="fault" id="remedy-fault">${problem.message}</p>`}
${CHOICES.map(
  value =>
    html`<p class="check"><input type="radio" id="${value}" name="remedy" value="${value}"${fields.remedy === value && html` checked`}> <label for="${value}">${remedyTexts.choices[value]}</label></p>`,
)}
${renderReturn(remedyTexts, false, problem, fields)}
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
