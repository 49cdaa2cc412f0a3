import { type Static, Type } from '@sinclair/typebox';
import { NAME_MAXIMUM, parseName } from '../../accounts/input.ts';
import type { Remedy } from '../../database/deposit-tables.ts';
import { type Html, html } from '../../pages/html.ts';
import type { RemedyOf } from '../../settlement/inbox.ts';
import { type FormFault, renderField } from '../form.ts';
import { texts } from '../texts/index.ts';

const { remedy: remedyTexts } = texts.unmatched;
const { faults } = remedyTexts;

/** A form that dismisses. Browsers leave `remedy` out while none is chosen. */
export const RemedyForm = Type.Object({
  remedy: Type.String({ default: '' }),
  to: Type.String(),
  hash: Type.String(),
  note: Type.String(),
});
export type RemedyFields = Static<typeof RemedyForm>;

const CHOICES: readonly Remedy[] = ['returned', 'kept', 'other'];

const NO_FIELDS: RemedyFields = { remedy: '', to: '', hash: '', note: '' };

/** What was done with the money, or why the form is refused. */
export function readRemedy(fields: RemedyFields): RemedyOf | FormFault {
  const [to = '', hash = '', note = ''] = [fields.to, fields.hash, fields.note].map(text =>
    text.trim(),
  );
  if (note !== '' && parseName(note) === undefined) {
    return fault('note', faults.note(NAME_MAXIMUM));
  }
  const given = note === '' ? undefined : note;
  switch (fields.remedy) {
    case 'returned':
      if (parseName(to) === undefined) return fault('to', faults.to);
      if (parseName(hash) === undefined || /\s/.test(hash)) {
        return fault('hash', faults.hash);
      }
      return { remedy: 'returned', to, hash, note: given };
    case 'kept':
      return { remedy: 'kept', note: given };
    case 'other':
      return given === undefined
        ? fault('note', faults.noteNeeded)
        : { remedy: 'other', note: given };
    default:
      return fault('returned', faults.choice);
  }
}

function fault(field: string, message: string): FormFault {
  return { field, message };
}

/** The questions of a form that dismisses. */
export function renderRemedy(problem: FormFault | null, fields: RemedyFields = NO_FIELDS): Html {
  const text = (name: 'to' | 'hash' | 'note') =>
    renderField(
      {
        ...{ name, ...remedyTexts[name], value: fields[name] },
        ...{ required: false, maxlength: NAME_MAXIMUM },
      },
      problem,
    );
  return html`<fieldset><legend>${remedyTexts.question}</legend>
${problem?.field === 'returned' && html`<p class="fault" id="remedy-fault">${problem.message}</p>`}
${CHOICES.map(
  value =>
    html`<p class="check"><input type="radio" id="${value}" name="remedy" value="${value}"${fields.remedy === value && html` checked`}> <label for="${value}">${remedyTexts.choices[value]}</label></p>`,
)}
${text('to')}
${text('hash')}
${text('note')}
</fieldset>`;
}
