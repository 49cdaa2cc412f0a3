// biome-ignore-all lint/suspicious/noTemplateCurlyInString: strings here are source code.
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAst } from 'vitest/node';
import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { ImageRefused } from '#accounts/logo.ts';
import { InvalidAddress } from '#chains/invalid-address.ts';
import { ADDRESS_PROBLEMS } from '#errors/refusals/address-problems.ts';
import { wordDisabling } from '#errors/refusals/disablings.ts';
import { wordRefusal } from '#errors/refusals/wording.ts';
import { en } from '#surfaces/panel/texts/en/index.ts';
import { es } from '#surfaces/panel/texts/es/index.ts';
import { addressProblems } from '#surfaces/panel/texts/es/refusals/address-problems.ts';

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

type Text = string | readonly string[] | { readonly markup: string };
type MakeText = (...values: unknown[]) => Text;

/** The texts of a catalogue with their keys, such as `shell.menu.home`. */
function textsOf(catalogue: object, path = ''): [string, Text | MakeText][] {
  return Object.entries(catalogue).flatMap(([name, value]): [string, Text | MakeText][] => {
    const key = path + name;
    const isText = typeof value !== 'object' || 'markup' in value;
    return isText ? [[key, value]] : textsOf(value, `${key}.`);
  });
}

function shownOf(text: Text): string {
  if (typeof text === 'string') return text;
  return 'markup' in text ? text.markup : text.join('\n');
}

/** How a text shows a parameter: `«a»` for the first one. */
const markOf = (place: number) => `«${'abcdef'.charAt(place)}»`;

/** A value of most types of parameters. */
const anyValue = (place: number): unknown => shownAs(markOf(place));

function shownAs(mark: string): object {
  const shown = () => mark;
  const methods = { toString: shown, toISOString: shown, toLocaleString: shown };
  return Object.assign(new Date(0), methods, { markup: mark });
}

/** Sentences by code, whose values have names. */
const CODED = /^(addressProblems|refusals|setupFindings)\.(?<code>.*)/;

const WRONG_AMOUNTS = ['tooLittle', 'tooMuch'].map(difference => ({ difference }));

/** Values that sentences by code distinguish. */
const DISTINGUISHED: Readonly<Record<string, readonly object[]>> = {
  'account-not-approved': [{ status: 'pending' }, { status: 'rejected' }],
  'address-invalid': [{ problem: { code: 'address-empty' } }],
  'amount-asked-by-former-admin': WRONG_AMOUNTS,
  'amount-mistyped': WRONG_AMOUNTS,
  'amount-unasked': WRONG_AMOUNTS,
  'amount-untyped': WRONG_AMOUNTS,
  'clock-without-events': Object.keys(en.payments.statuses).map(status => ({ status })),
  'deposit-for-other-payment': Object.keys(en.payments.statuses).map(status => ({ status })),
  'deposit-without-funds': Object.keys(en.payments.timeline.states).map(state => ({ state })),
  'endpoint-disabled': [{ reason: 'answered-gone' }, { reason: 'disabled-by Ada' }],
  'legacy-key-needs-admin': [
    { status: 'active', role: 'member' },
    { status: 'inactive', role: 'admin' },
    { status: 'inactive', role: 'member' },
  ],
  'payment-ended': Object.keys(en.payments.statuses).map(status => ({ status })),
  'return-not-final': Object.keys(en.payments.timeline.states).map(state => ({ state })),
  'too-many-codes': [{ isKnownDevice: true }, { isKnownDevice: false }],
  'wallet-invalid': [{ problem: { code: 'wallet-empty' } }],
  'wrong-password': [{ wasRight: true }, { wasRight: false }],
};

/** Values of which each that is not given shows its name: `«:maximum»`. */
function namedValues(given: object): object {
  return new Proxy(given, {
    get(values, name) {
      const mark = `«:${String(name)}»`;
      return Reflect.get(values, name) ?? Object.assign(shownAs(mark), { join: () => mark });
    },
  });
}

const CHANGE = {
  network: 'ETH',
  branch: 'Norte',
  proposedBy: 'Ada',
  approvedBy: 'Eva',
  by: 'Leo',
  effectiveAt: anyValue(0),
  needsApproval: false,
};
const BY_OPERATOR = { proposedBy: null, approvedBy: null, by: null, needsApproval: true };

/** Values that texts may distinguish. */
const VALUES: readonly unknown[] = [
  ...[0, 1, null, false, ['Ada', 'Eva'], Object.assign([], { toString: () => '[]' })],
  ...['password', 'app', 'factors', 'both', 'recovery-codes', 'email', 'all', 'failures', 'off'],
  ...Object.keys(en.changes.kinds).flatMap(kind => [
    { ...CHANGE, kind },
    { ...CHANGE, ...BY_OPERATOR, kind },
  ]),
];

/** undefined if the values are not of the types of the parameters. */
function textOf(make: MakeText, values: readonly unknown[]): Text | undefined {
  try {
    const text = make(...values);
    return shownOf(text).includes('undefined') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Values for the parameters of a function. */
interface Case {
  readonly values: readonly unknown[];
  /** Of the one that is not `anyValue`. */
  readonly place?: number;
}

/** Cases that a function words differently; the first one is of any values that suit it. */
function casesOf(make: MakeText): Case[] {
  const any = Array.from({ length: make.length }, (_, place) => anyValue(place));
  const changesOf = (values: unknown[]) =>
    values.flatMap((_, place) =>
      VALUES.map(value => ({ values: values.with(place, value), place })),
    );
  const first = [any, ...changesOf(any).map(({ values }) => values)].find(
    values => textOf(make, values) !== undefined,
  );
  if (first === undefined) return [];
  return [{ values: first }, ...changesOf(first).filter(each => isWorded(make, first, each))];
}

/** Whether a function words a value instead of just showing it. */
function isWorded(make: MakeText, first: readonly unknown[], { values, place = 0 }: Case): boolean {
  const [plain, text] = [textOf(make, first), textOf(make, values)];
  if (plain === undefined || text === undefined) return false;
  return shownOf(text) !== shownOf(plain).replaceAll(markOf(place), String(values[place]));
}

const tagsOf = (text: Text) => shownOf(text).match(/<[^>]*>/g) ?? [];

/** Whether each tag of a text is closed, the innermost first. */
function isBalanced(text: Text): boolean {
  const open: string[] = [];
  for (const tag of tagsOf(text)) {
    const [, slash, name = ''] = /^<(\/?)(\w+)/.exec(tag) ?? [];
    if (slash === '') open.push(name);
    else if (open.pop() !== name) return false;
  }
  return open.length === 0;
}

describe('the texts in Spanish', () => {
  const SAME_AS_ENGLISH = [
    ...['External Payments Service', 'Webhooks', 'URL', 'Endpoint', 'Error', 'ID', 'no'],
    ...['HTTP «a»', '«a» ms', '#7c3aed', 'taproot'],
    ...['X-MP-TIMESTAMP', 'X-MP-NONCE', 'X-MP-SIGNATURE'],
  ];
  const ENGLISH_WORD = /(?<!\p{L})(the|of|and|is|are|to|with|from|for|your)(?!\p{L})/iu;

  const english = textsOf({ ...en, addressProblems: ADDRESS_PROBLEMS });
  const spanish = new Map(textsOf({ ...es, addressProblems }));
  const valuesOf = (key: string, make: MakeText): (readonly unknown[])[] => {
    const code = CODED.exec(key)?.groups?.code;
    return code === undefined
      ? casesOf(make).map(({ values }) => values)
      : (DISTINGUISHED[code] ?? [{}]).map(given => [namedValues(given)]);
  };
  /** Each text in both languages; for functions in all their wordings. */
  const pairs = english.flatMap(([key, text]) => {
    const other = spanish.get(key);
    if (typeof text !== 'function') return [{ key, from: text, to: other as Text }];
    return valuesOf(key, text).map(values => ({
      key,
      from: textOf(text, values) as Text,
      to: textOf(other as MakeText, values) as Text,
    }));
  });

  test('have the keys of the English ones, each with a text', () => {
    const keys = english.map(([key]) => key);
    expect([...spanish.keys()].toSorted()).toEqual(keys.toSorted());
    expect([...new Set(pairs.map(({ key }) => key))]).toEqual(keys);
  });

  test('show the values that the English ones show', () => {
    const formOf = (text: Text) => ({
      type: Array.isArray(text) ? 'paragraphs' : typeof text,
      values: new Set(shownOf(text).match(/«(\w|:\w+)»/g)),
      isEmpty: shownOf(text).trim() === '',
    });
    for (const { key, from, to } of pairs) expect(formOf(to), key).toEqual(formOf(from));
  });

  test('have the tags of the English ones, and close them', () => {
    for (const { key, from, to } of pairs) {
      expect(tagsOf(to).toSorted(), key).toEqual(tagsOf(from).toSorted());
      expect(isBalanced(to), key).toBe(true);
    }
  });

  test('are not English', () => {
    const shown = pairs.map(({ from, to }) => [shownOf(from), shownOf(to)] as const);
    const same = shown.filter(([from, to]) => from === to && LETTERS.test(to));
    expect(new Set(same.map(([, to]) => to))).toEqual(new Set(SAME_AS_ENGLISH));
    expect(shown.filter(([, to]) => ENGLISH_WORD.test(to))).toEqual([]);
  });

  test('word what the English ones word, such as one and several', () => {
    const plain = english.flatMap(([key, text]) => {
      if (typeof text !== 'function') return [];
      const other = spanish.get(key) as MakeText;
      const [first, ...cases] = casesOf(text);
      return cases
        .filter(each => !isWorded(other, first?.values ?? [], each))
        .map(({ values, place = 0 }) => `${key}: ${values[place]}`);
    });
    expect(plain).toEqual([]);
    const coded = pairs.filter(({ key }) => CODED.test(key));
    for (const [key, cases] of Map.groupBy(coded, pair => pair.key)) {
      const sentences = (language: 'from' | 'to') =>
        new Set(cases.map(pair => shownOf(pair[language]))).size;
      expect(sentences('to'), key).toBe(sentences('from'));
    }
  });

  test('write numbers and times as Spanish does', () => {
    const at = new Date('2026-03-01T01:30:00Z');
    expect(es.formats.number(12_345)).toBe('12.345');
    expect(es.formats.dateTime(at)).toBe('1 mar 2026, 01:30 UTC');
    expect(es.home.attention.newDevice(at, '')).toContain('el 2026-03-01 a la 01:30 UTC');
    const [expiry] = es.mails.keyExpires.text('', '', new Date(0), '');
    expect(expiry).toContain('el 1970-01-01 a las 00:00 UTC');
  });
});

test.each([
  [
    new OperationRefused('domain-with-wildcard'),
    'El dominio no se acepta: no se admiten comodines; agregue cada nombre de host por separado.',
  ],
  [
    new OperationRefused('address-invalid', {
      problem: new InvalidAddress('tron-length-wrong', { length: 33, expected: 34 }).problem,
    }),
    'La dirección no se acepta: una dirección de Tron tiene 34 caracteres, y esta tiene 33.',
  ],
  [
    new OperationRefused('payment-ended', { status: 'expired' }),
    'El pago ha terminado: está vencido, y así se queda. Resuélvalo con el cliente y descarte el depósito con una nota de cómo se hizo.',
  ],
  [
    new OperationRefused('recovered-lately', { freeAt: new Date('2026-01-02T01:04:05Z') }),
    'Un enlace le dio una nueva contraseña o aplicación de autenticación: puede hacer esto a partir del 2026-01-02 a la 01:04 UTC.',
  ],
  [
    new OperationRefused('too-many-keys', { maximum: 1 }),
    'El comercio tiene 1 clave activa, el máximo permitido; revoque una primero.',
  ],
  [
    new ImageRefused('image-too-many-bytes', { bytes: 300_000, maximum: 65_536 }),
    'tiene 300.000 bytes, y se aceptan 65.536 como máximo',
  ],
])('a refusal in Spanish: %s', ({ refusal }, sentence) => {
  expect(wordRefusal(es.refusals, refusal)).toBe(sentence);
});

test.each([
  ['answered-gone', 'Respondió 410 Gone.'],
  ['disabled-by Ada\nB', 'Lo desactivó Ada\nB.'],
  // As former releases stored it.
  ['It answered 410 Gone.', 'Respondió 410 Gone.'],
  ['Disabled by Ada.', 'Disabled by Ada.'],
])('why an endpoint is disabled in Spanish: %j', (stored, sentence) => {
  expect(wordDisabling(es.webhooks.disablings, stored)).toBe(sentence);
});
