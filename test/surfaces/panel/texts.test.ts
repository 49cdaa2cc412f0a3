// biome-ignore-all lint/suspicious/noTemplateCurlyInString: strings here are source code.
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAst } from 'vitest/node';

const PANEL = resolve(import.meta.dirname, '../../../src/surfaces/panel');

/** The catalogue itself, and names of columns that programs read. */
const WITHOUT_TEXTS = ['texts/**', '**/export-columns.ts'];
/** Attributes that people read or hear. */
const ATTRIBUTES = ['alt', 'aria-description', 'aria-label', 'placeholder', 'title'];
/** Properties and variables whose values are shown. */
const SHOWN = ['cell', 'hint', 'label', 'lead', 'message', 'placeholder', 'text', 'title'];
/** Calls with texts for developers: schemas, errors, logs. */
const FOR_DEVELOPERS = /^(super|StringEnum|Uuid|\w*Error|Type\.\w+|\w+\.log\.\w+)$/;
/** Names of browsers, which are the same in every language. */
const PROPER_NAMES = ['Edge', 'Opera'];

/** Stands for a value in a template. */
const VALUE = '\0';
/** A single letter is no text. */
const LETTERS = /\p{L}{2}/u;
/** Looks like a text rather than an identifier: it starts with a capital, or has a word after a space. */
const WORDS = /^\p{Lu}\p{Ll}+(?!\p{L})|[\p{L}\d\0][,.:?!]? \p{L}{2}/u;
/** Attributes that a template without a tag adds to one. */
const ADDED = / [\w-]+="[^"]*"|^ (autofocus|checked|disabled|hidden|open|required|selected)$/g;

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/**
 * How a literal is used: `shown` if every word is a text, `code` if it may be an identifier as well,
 * `hidden` where nobody reads it.
 */
type Place = 'shown' | 'code' | 'hidden';

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value;

/** Finds texts in a TypeScript file that are not from the catalogue. */
function findTexts(source: string): string[] {
  const program: unknown = parseAst(source, { lang: 'ts' });
  const found: string[] = [];
  if (isNode(program)) visit(program, 'code', source, found);
  return found.map(text => text.trim().replaceAll(VALUE, '…'));
}

function visit(node: Node, place: Place, source: string, found: string[]): void {
  if (node.type.startsWith('TS') && !('expression' in node)) return;
  if (node.type === 'TaggedTemplateExpression') {
    visitMarkup(node, source, found);
    return;
  }
  const literal = literalOf(node);
  if (literal !== undefined && isText(literal, place)) found.push(literal);
  for (const [key, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) visit(child, placeOf(node, key, place, source), source, found);
    }
  }
}

function isText(literal: string, place: Place): boolean {
  if (place === 'hidden' || PROPER_NAMES.includes(literal)) return false;
  return (place === 'shown' ? LETTERS : WORDS).test(literal);
}

/** The place of a part of a node, given that of the node. */
function placeOf(node: Node, key: string, place: Place, source: string): Place {
  if (place === 'hidden') return place;
  const nameOf = (part: unknown) => (isNode(part) ? source.slice(part.start, part.end) : '');
  switch (node.type) {
    case 'Property':
      return SHOWN.includes(nameOf(node.key)) && key === 'value' ? 'shown' : place;
    case 'VariableDeclarator':
      return SHOWN.includes(nameOf(node.id)) ? 'shown' : place;
    case 'CallExpression':
    case 'NewExpression':
      return FOR_DEVELOPERS.test(nameOf(node.callee)) ? 'hidden' : 'code';
    case 'BinaryExpression':
      return node.operator === '+' ? place : 'hidden';
    case 'ImportDeclaration':
      return 'hidden';
    case 'ConditionalExpression':
    case 'ArrowFunctionExpression':
      return key === 'test' || key === 'params' ? 'code' : place;
    case 'LogicalExpression':
    case 'TemplateLiteral':
      return place;
    default:
      return place === 'shown' && !node.type.startsWith('TS') ? 'code' : place;
  }
}

function literalOf(node: Node): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  return node.type === 'TemplateLiteral' ? piecesOf(node).join(VALUE) : undefined;
}

function piecesOf({ quasis }: Node): string[] {
  return (quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked);
}

/** Finds texts in markup: between its tags, in attributes, and in its values. */
function visitMarkup(node: Node, source: string, found: string[]): void {
  const template = node.quasi as Node;
  const pieces = piecesOf(template);
  const markup = pieces.join(VALUE).replaceAll(/<code\b.*?<\/code>/gs, VALUE);
  for (const [, name = '', value = ''] of markup.matchAll(/([\w-]+)="([^"]*)"/g)) {
    if (ATTRIBUTES.includes(name) && LETTERS.test(value)) found.push(value);
  }
  const texts = markup
    .replaceAll(/<[^>]*>/g, '<')
    .replaceAll(ADDED, '')
    .split('<');
  found.push(...texts.filter(text => LETTERS.test(text)));
  for (const [index, value] of (template.expressions as Node[]).entries()) {
    const before = pieces.slice(0, index + 1).join(VALUE);
    const [, attribute] = /([\w-]+)="[^"]*$/.exec(before) ?? [];
    const isInTag = before.lastIndexOf('<') > before.lastIndexOf('>');
    const isShown = attribute === undefined ? !isInTag : ATTRIBUTES.includes(attribute);
    visit(value, isShown ? 'shown' : 'hidden', source, found);
  }
}

test('every text of the panel is in its catalogue', () => {
  const files = globSync('**/*.ts', { cwd: PANEL, exclude: WITHOUT_TEXTS });
  expect(files.length).toBeGreaterThan(40);
  const found = files.flatMap(file =>
    findTexts(readFileSync(join(PANEL, file), 'utf8')).map(text => `${file}: ${text}`),
  );
  expect(found).toEqual([]);
});

describe('a text is found', () => {
  test.each([
    ['between tags', 'html`<p>Nothing waits.</p>`', ['Nothing waits.']],
    ['beside a value', 'html`<p>${name}, due <b>${day}</b></p>`', ['…, due']],
    ['in an attribute', 'html`<nav aria-label="Pages"></nav>`', ['Pages']],
    ['in an added attribute', 'html` placeholder="Name or ID"`', ['Name or ID']],
    ['in a value', "html`<p>${isOn ? 'on' : html`<b>off</b>`}</p>`", ['on', 'off']],
    ['in the value of an attribute', 'html`<i title="${isOn && \'on\'}"></i>`', ['on']],
    [
      'as a property',
      "({ title: 'paid', label: isNew ? 'New' : `to ${day}` })",
      ['paid', 'New', 'to …'],
    ],
    ['as a variable', "const message = reason ?? 'gone'", ['gone']],
    ['in a cell', "({ cell: ({ at }) => at ?? 'never' })", ['never']],
    ['as an argument', "renderTable('Payments', ['Paid by'])", ['Payments', 'Paid by']],
    ['with a value', 'describe(`${count} left`)', ['… left']],
    ['in a table of texts', "const WHY = { late: 'too late' }", ['too late']],
  ])('%s', (_, source, texts) => {
    expect(findTexts(source)).toEqual(texts);
  });
});

describe('no text is found in', () => {
  test.each([
    ['a command', 'html`<p><code>mp deposit list</code> <code id="a">E2102</code></p>`'],
    ['an attribute for programs', 'html`<p class="tag bad" id="fault"></p>`'],
    ['the value of one', "html`<a class=\"${isBad ? 'tag bad' : 'tag'}\"></a>`"],
    [
      'an added attribute',
      'html`<i${isOn && html` checked`}${name && html` data-name="${name}"`}>`',
    ],
    ['a text of the catalogue', 'html`<p title="${texts.a}">${texts.b(count(total))}</p>`'],
    ['an identifier', "renderField({ name: 'email', type: 'email' }, `${name}-hint`)"],
    ['what is compared', "system === 'Mac OS X'"],
    ['a header', "reply.header('content-type', 'text/html; charset=utf-8')"],
    [
      'what developers read',
      "Uuid('ID of it.'); new ApiError('E1', 'No text.'); request.log.info('a b')",
    ],
  ])('%s', (_, source) => {
    expect(findTexts(source)).toEqual([]);
  });
});
