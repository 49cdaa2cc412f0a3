import { ALERT_RULES, RULES_FILE } from '#telemetry/alert-rules.ts';
import type { CliCommand } from './cli-command.ts';
import { type JsonFlag, printJson, printLines } from './print.ts';

/** `mp metrics rules` */
export function define(noun: CliCommand): void {
  noun.verb('rules', 'print a rule file for Prometheus').action(({ json }: JsonFlag) => {
    if (json) printJson(noun.terminal, RULES_FILE);
    else printLines(noun.terminal, rulesLines());
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
