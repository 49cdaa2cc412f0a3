import { type Html, html } from '../pages/html.ts';

/** Why a form is shown again. */
export interface FormFault {
  /** The field that it is about; null for the form as a whole. */
  readonly field: string | null;
  readonly message: string;
}

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password' | 'date' | 'search';
  /** Never that of a password, a code or a secret. */
  readonly value?: string;
  readonly hint?: string;
  readonly autocomplete?: string;
  readonly inputmode?: 'numeric' | 'text';
  readonly required?: boolean;
  readonly maxlength?: number;
  /** What may be entered, where a hint would take too much room. */
  readonly placeholder?: string;
}

/** A labelled input; where it is what a form was refused for, with the reason. */
export function renderField(field: Field, fault: FormFault | null): Html {
  const { name, label, type = 'text', value = '', hint, autocomplete, inputmode } = field;
  const { required = true, maxlength, placeholder } = field;
  const isWrong = fault?.field === name;
  const described = [hint && `${name}-hint`, isWrong && `${name}-fault`].filter(Boolean).join(' ');
  return html`<p class="field">
<label for="${name}">${label}</label>
${hint !== undefined && html`<span class="hint" id="${name}-hint">${hint}</span>`}
${isWrong && html`<span class="fault" id="${name}-fault">${fault.message}</span>`}
<input id="${name}" name="${name}" type="${type}" value="${value}"${
    autocomplete !== undefined && html` autocomplete="${autocomplete}"`
  }${inputmode !== undefined && html` inputmode="${inputmode}"`}${
    maxlength !== undefined && html` maxlength="${maxlength}"`
  }${placeholder !== undefined && html` placeholder="${placeholder}"`}${required && html` required`}${described !== '' && html` aria-describedby="${described}"`}${
    isWrong && html` aria-invalid="true"`
  }>
</p>`;
}

export interface Choice {
  readonly value: string;
  readonly text: string;
}

/** A labelled list to choose one from. */
export function renderSelect({
  name,
  label,
  value,
  choices,
}: {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
}): Html {
  return html`<p class="field">
<label for="${name}">${label}</label>
<select id="${name}" name="${name}">${choices.map(
    choice =>
      html`<option value="${choice.value}"${choice.value === value && html` selected`}>${choice.text}</option>`,
  )}</select>
</p>`;
}

/** The reason at the top of a form that is shown again; it has the focus. */
export function renderFault(fault: FormFault | null): Html | null {
  if (fault === null) return null;
  const { field, message } = fault;
  return html`<div class="fault-summary" role="alert" tabindex="-1" id="fault" autofocus>
<p>${field === null ? message : html`<a href="#${field}">${message}</a>`}</p>
</div>`;
}

/** A form with one button, for what needs no values. */
export function renderButton(
  action: string,
  text: string,
  look: 'primary' | 'plain' = 'primary',
): Html {
  return html`<form method="post" action="${action}"><button${look === 'plain' && html` class="plain"`}>${text}</button></form>`;
}
