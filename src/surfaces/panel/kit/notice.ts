import { type Static, Type } from '@sinclair/typebox';
import type { ValidateFunction } from 'ajv';
import { createAjv } from '#http/validation.ts';
import { type Html, html } from '../../pages/html.ts';

const Text = Type.String();

/** What a page says, once, of the change that led to it. Paths are without the base path. */
const NoticeSchema = Type.Object({
  text: Text,
  /** The page that shows what was changed. */
  link: Type.Optional(Type.Object({ path: Text, text: Text })),
  /** A form that takes the change back. */
  undo: Type.Optional(
    Type.Object({ path: Text, text: Text, fields: Type.Record(Type.String(), Text) }),
  ),
});
export type Notice = Static<typeof NoticeSchema>;

/** Longest notice in its cookie, in characters: browsers keep 4,096 bytes of a cookie with its name and attributes. */
const LENGTH_MAXIMUM = 3_500;

/** A notice for its cookie, without link and button if it would be too long for one. */
export function writeNotice(notice: Notice): string {
  const written = encode(notice);
  return written.length <= LENGTH_MAXIMUM ? written : encode({ text: notice.text.slice(0, 500) });
}

function encode(notice: Notice): string {
  return Buffer.from(JSON.stringify(notice)).toString('base64url');
}

/** Compiled at the first notice, like the schemas of forms. */
let isNotice: ValidateFunction<Notice> | undefined;

/** The notice in a cookie; undefined for none and for what is none. */
export function readNotice(written: string | undefined): Notice | undefined {
  if (written === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(written, 'base64url').toString());
    isNotice ??= createAjv({}).compile<Notice>(NoticeSchema);
    return isNotice(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function renderNotice({ text, link, undo }: Notice, basePath: string): Html {
  return html`<div class="done" role="status"><p>${text}${
    link !== undefined && html` <a href="${basePath}${link.path}">${link.text}</a>`
  }</p>${
    undo !== undefined &&
    html`<form method="post" action="${basePath}${undo.path}">${Object.entries(undo.fields).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
    )}<button class="plain">${undo.text}</button></form>`
  }</div>
`;
}
