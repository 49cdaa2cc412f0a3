import type { Terminal } from './terminal.ts';

/** Flag of every command. */
export interface JsonFlag {
  readonly json?: true;
}

const INDENT = '  ';
const GAP = '  ';
const NOTHING = '-';
/** Merchants and their servers send text, which must not move an operator's cursor or start a line. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

/** Prints an object: as JSON, or a line for each field and an optional note. */
export function printObject(
  terminal: Terminal,
  { json }: JsonFlag,
  object: object,
  note?: string,
): void {
  if (json) printJson(terminal, object);
  else printLines(terminal, fieldLines(object), note);
}

/** Prints a list: a JSON array of the whole objects, or a table of some columns and an optional note. */
export function printList<T extends object>(
  terminal: Terminal,
  { json }: JsonFlag,
  rows: readonly T[],
  columns: readonly (keyof T & string)[],
  note?: string,
): void {
  if (json) printJson(terminal, rows);
  else printLines(terminal, rows.length === 0 ? ['None.'] : tableLines(rows, columns), note);
}

export function printJson(terminal: Terminal, value: unknown): void {
  terminal.out(`${jsonText(value)}\n`);
}

/** JSON on several lines. Escapes characters that JSON allows but a terminal obeys; the value stays the same. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/(?!\n)[\p{Cc}]/gu, escapeControl);
}

/** Prints lines and, after a blank one, an optional note. */
export function printLines(terminal: Terminal, lines: readonly string[], note?: string): void {
  const all = note === undefined ? lines : [...lines, '', note];
  terminal.out(`${all.join('\n')}\n`);
}

function fieldLines(object: object): string[] {
  const fields = Object.entries(object);
  const width = Math.max(...fields.filter(isLine).map(([name]) => name.length), 0);
  return fields.flatMap(([name, value]) => {
    if (isLine([name, value])) return [name.padEnd(width) + GAP + cell(value)];
    return [`${name}:`, ...itemLines(value).map(line => INDENT + line)];
  });
}

/** A table of flat objects; objects that contain lists are printed one below the other. */
function itemLines(items: readonly object[]): string[] {
  const flat = items.every(item => Object.entries(item).every(isLine));
  return flat
    ? tableLines(items, Object.keys(items[0] ?? {}))
    : items.flatMap((item, index) => [...(index === 0 ? [] : ['']), ...fieldLines(item)]);
}

/** Whether a field fits on one line: anything but a list of objects. */
function isLine([, value]: [string, unknown]): boolean {
  return !(Array.isArray(value) && value.some(item => typeof item === 'object' && item !== null));
}

function tableLines(rows: readonly object[], columns: readonly string[]): string[] {
  const cells = rows.map(row => {
    const fields = new Map<string, unknown>(Object.entries(row));
    return columns.map(column => cell(fields.get(column)));
  });
  const table = [columns, ...cells];
  const widths = columns.map((_, index) => Math.max(...table.map(row => row[index]?.length ?? 0)));
  return table.map(row =>
    row
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

/** A value on one line, with control characters escaped. */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return NOTHING;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.length === 0 ? NOTHING : value.map(cell).join(', ');
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.replace(CONTROL, escapeControl);
}

function escapeControl(character: string): string {
  if (character === '\n') return '\\n';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
