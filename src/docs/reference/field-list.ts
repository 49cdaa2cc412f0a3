import { type Html, html } from '../../routes/pages/html.ts';
import { renderMarkdown } from '../markdown.ts';
import { type Field, textOf } from './fields.ts';
import type { Content } from './operations.ts';

/** Whether fields are sent, where those are marked that have to be, or received. */
export type Direction = 'sent' | 'received';

/** Anchor of an object that is described by itself. */
export function objectId(name: string): string {
  return `object-${name}`;
}

/** What a body is made of: its fields, or a link to the object that has them. */
export function renderContent(
  { type, object, fields }: Content,
  direction: Direction,
  basePath: string,
): Html {
  const isArray = type.startsWith('array');
  return html`${
    object === null
      ? isArray && html`<p>${type}, each with:</p>`
      : html`<p>${isArray && 'array of '}<a href="#${objectId(object)}">${object}</a></p>`
  }
${renderFields(fields, direction, basePath)}`;
}

export function renderFields(
  fields: readonly Field[],
  direction: Direction,
  basePath: string,
): Html | null {
  if (fields.length === 0) return null;
  return html`<ul class="fields">${fields.map(field => renderField(field, direction, basePath))}</ul>`;
}

/** A list of names that are told in a sentence each. */
export function renderNames(
  names: readonly { readonly name: string; readonly text: string }[],
  basePath: string,
): Html {
  return html`<ul class="fields">${names.map(
    ({ name, text }) =>
      html`<li><p><code>${name}</code></p>${{ markup: renderMarkdown(text, basePath).markup }}</li>`,
  )}</ul>`;
}

function renderField(field: Field, direction: Direction, basePath: string): Html {
  const { name, required, children } = field;
  return html`<li><p><code>${name}</code> <span class="type">${typeLabel(field)}</span>${
    direction === 'sent' && required && html` <span class="required">required</span>`
  }${direction === 'received' && !required && html` <span class="type">may be absent</span>`}</p>
${{ markup: renderMarkdown(textOf(field), basePath).markup }}
${
  children.length > 0 &&
  html`<details><summary>Fields of <code>${name}</code></summary>${renderFields(children, direction, basePath)}</details>`
}</li>`;
}

function typeLabel({ type, object }: Field): Html | string {
  if (object === null) return type;
  return html`${type.startsWith('array') && 'array of '}<a href="#${objectId(object)}">${object}</a>`;
}
