import type { Command } from 'commander';
import { ALERT_RULES, RULES_FILE } from '../telemetry/alert-rules.ts';
import { printJson, printLines } from './print.ts';
import type { Terminal } from './terminal.ts';
import { addVerb, type JsonFlag } from './values.ts';

/** `mp metrics rules` */
export function define(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'rules', 'print a rule file for Prometheus').action(({ json }: JsonFlag) => {
    if (json) printJson(terminal, RULES_FILE);
    else printLines(terminal, rulesLines());
  });
}

/** The rule file in YAML, in which a JSON string is a valid string. */
function rulesLines(): string[] {
  const rules = ALERT_RULES.flatMap(({ alert, expr, for: wait, labels, annotations }) => [
    `      - alert: ${alert}`,
    `        expr: ${JSON.stringify(expr)}`,
    `        for: ${wait}`,
    `        labels: { severity: ${labels.severity} }`,
    `        annotations: { summary: ${JSON.stringify(annotations.summary)} }`,
  ]);
  return [
    'groups:',
    ...RULES_FILE.groups.map(({ name }) => `  - name: ${name}`),
    '    rules:',
    ...rules,
  ];
}
