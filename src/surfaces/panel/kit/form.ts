import { type Html, html } from '../../pages/html.ts';

/** Why a form is shown again. */
export interface FormFault {
  /** The field that it is about; null for the form as a whole. */
  readonly field: string | null;
  readonly message: string;
}

/** Refuses a form for what was typed into it. */
export class FormRefused extends Error {
  readonly fault: FormFault;

  /** @param field What it is about; null for the form as a whole. */
  constructor(field: string | null, message: string) {
    super(message);
    this.name = 'FormRefused';
    this.fault = { field, message };
  }
}

export interface Field {
  readonly name: string;
  /** The name unless given: for a page with several forms that have a field of this name. */
  readonly id?: string;
  readonly label: string;
  readonly type?:
    | 'text'
    | 'email'
    | 'password'
    | 'url'
    | 'date'
    | 'datetime-local'
    | 'search'
    | 'file';
  /** What the field holds at first; nothing for a password, a code or a secret. */
  readonly value?: string | undefined;
  readonly hint?: string;
  readonly autocomplete?: string;
  readonly inputmode?: 'numeric' | 'text';
  readonly required?: boolean;
  readonly maxlength?: number | undefined;
  /** Types of files to choose from. */
  readonly accept?: string;
  /** What may be entered, for a form without room for a hint. */
  readonly placeholder?: string;
  /** Another control for the same value, at the input's side. */
  readonly beside?: Html;
}

/** A labelled input, with the reason if the form was refused for its value. */
export function renderField(field: Field, fault: FormFault | null = null): Html {
  const { name, id = name, label, type = 'text', value = '', hint, required = true } = field;
  const { accept, autocomplete, inputmode, maxlength, placeholder, beside } = field;
  const isWrong = fault?.field === id;
  const described = [hint && `${id}-hint`, isWrong && `${id}-fault`].filter(Boolean).join(' ');
  const given = type === 'file' ? undefined : value;
  const optional = { value: given, accept, autocomplete, inputmode, maxlength, placeholder };
  return html`<p class="field">
<label for="${id}">${label}</label>
${hint !== undefined && html`<span class="hint" id="${id}-hint">${hint}</span>`}
${isWrong && html`<span class="fault" id="${id}-fault">${fault.message}</span>`}
${beside !== undefined && html`<span class="together">${beside}`}<input id="${id}" name="${name}" type="${type}"${Object.entries(
    optional,
  ).map(
    ([attribute, given]) => given !== undefined && html` ${attribute}="${given}"`,
  )}${required && html` required`}${described !== '' && html` aria-describedby="${described}"`}${isWrong && html` aria-invalid="true"`}>${beside !== undefined && html`</span>`}
</p>`;
}

/** A labelled text of several lines, kept as it is. */
export function renderArea({ name, label, value = '', hint }: Field): Html {
  const described = hint !== undefined && html` aria-describedby="${name}-hint"`;
  return html`<p class="field">
<label for="${name}">${label}</label>
${hint !== undefined && html`<span class="hint" id="${name}-hint">${hint}</span>`}
<textarea id="${name}" name="${name}" rows="6" spellcheck="false"${described}>
${value}</textarea>
</p>`;
}

/** Values to choose from, each with its text. */
export type Choices = readonly (readonly [value: string, text: string])[];

/** A labelled list to choose one from. */
export function renderSelect(name: string, label: string, choices: Choices, chosen = ''): Html {
  return html`<p class="field">
<label for="${name}">${label}</label>
<select id="${name}" name="${name}">${choices.map(
    ([value, text]) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  )}</select>
</p>`;
}

/** The reason at the top of a form that is shown again; it has the focus. */
export function renderFault({ field, message }: FormFault): Html {
  return html`<div class="fault-summary" role="alert" tabindex="-1" id="fault" autofocus>
<p>${field === null ? message : html`<a href="#${field}">${message}</a>`}</p>
</div>`;
}

/** A form with a button and no fields. */
export function renderButton(
  action: string,
  text: string,
  look: 'primary' | 'plain' | 'danger' = 'primary',
): Html {
  return html`<form method="post" action="${action}"><button${look !== 'primary' && html` class="${look}"`}>${text}</button></form>`;
}
