import { type Static, Type } from '@sinclair/typebox';
import { NAME_MAXIMUM, parseName } from '../../accounts/input.ts';
import type { Remedy } from '../../database/deposit-tables.ts';
import { type Html, html } from '../../pages/html.ts';
import type { RemedyOf } from '../../settlement/inbox.ts';
import { type FormFault, renderField } from '../form.ts';

/** A form that dismisses. Browsers leave `remedy` out while none is chosen. */
export const RemedyForm = Type.Object({
  remedy: Type.String({ default: '' }),
  to: Type.String(),
  hash: Type.String(),
  note: Type.String(),
});
export type RemedyFields = Static<typeof RemedyForm>;

const CHOICES: readonly (readonly [Remedy, string])[] = [
  ['returned', 'Returned'],
  ['kept', 'Kept'],
  ['other', 'Something else'],
];

const NO_FIELDS: RemedyFields = { remedy: '', to: '', hash: '', note: '' };

/** What was done with the money, or why the form is refused. */
export function readRemedy(fields: RemedyFields): RemedyOf | FormFault {
  const [to = '', hash = '', note = ''] = [fields.to, fields.hash, fields.note].map(text =>
    text.trim(),
  );
  if (note !== '' && parseName(note) === undefined) {
    return fault('note', `Say it in at most ${NAME_MAXIMUM} characters on one line.`);
  }
  const given = note === '' ? undefined : note;
  switch (fields.remedy) {
    case 'returned':
      if (parseName(to) === undefined) return fault('to', 'Say to whom it was returned.');
      if (parseName(hash) === undefined || /\s/.test(hash)) {
        return fault('hash', 'Give the hash of the transaction that returned it.');
      }
      return { remedy: 'returned', to, hash, note: given };
    case 'kept':
      return { remedy: 'kept', note: given };
    case 'other':
      return given === undefined
        ? fault('note', 'Say how it was settled with the customer.')
        : { remedy: 'other', note: given };
    default:
      return fault('returned', 'Say what was done with the money.');
  }
}

function fault(field: string, message: string): FormFault {
  return { field, message };
}

/** The questions of a form that dismisses. */
export function renderRemedy(problem: FormFault | null, fields: RemedyFields = NO_FIELDS): Html {
  const text = (name: 'to' | 'hash' | 'note', label: string, hint: string) =>
    renderField(
      { name, label, hint, value: fields[name], required: false, maxlength: NAME_MAXIMUM },
      problem,
    );
  return html`<fieldset><legend>What was done with the money?</legend>
${problem?.field === 'returned' && html`<p class="fault" id="remedy-fault">${problem.message}</p>`}
${CHOICES.map(
  ([value, label]) =>
    html`<p class="check"><input type="radio" id="${value}" name="remedy" value="${value}"${fields.remedy === value && html` checked`}> <label for="${value}">${label}</label></p>`,
)}
${text('to', 'If returned, to whom', 'An address, or a name.')}
${text('hash', 'If returned, the transaction', 'Its hash; whoever paid can see it too.')}
${text('note', 'Note', 'For your own records and the audit log, for example: ticket 7.')}
</fieldset>`;
}
