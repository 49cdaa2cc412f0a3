import { wordRefusal } from '#errors/refusals/wording.ts';
import { checkFirstPayment, type FirstPayment } from '#onchain/settlement/first-payment.ts';
import { SETUP_FINDINGS } from '#onchain/settlement/setup-findings.ts';
import type { Step } from '#onchain/settlement/setup-steps.ts';
import { mayLoseUnnoticed } from '#runtime/unnoticed-loss.ts';
import type { CliCommand } from './cli-command.ts';
import { cell, type JsonFlag, printLines } from './print.ts';
import { FailureShown } from './terminal.ts';
import { parseId } from './values.ts';

/** `mp doctor` */
export function define(command: CliCommand): void {
  command
    .json()
    .argument('<merchant>', 'merchant ID', parseId)
    .addHelpText(
      'after',
      '\nExit status 1 while a step is missing without which no payment settles.',
    )
    .onDatabase(async ({ db, config, clock, show }, merchantId: string, { json }: JsonFlag) => {
      const service = {
        simulation: config.simulation,
        hasPanel: config.panelUrl !== null,
        hasProcessor: config.processor !== null,
        mayLoseUnnoticed: await mayLoseUnnoticed(config, db),
      };
      const checked = await checkFirstPayment(db, merchantId, service, new Date(clock()));
      if (json) show({ merchantId, ...checked, steps: checked.steps.map(inEnglish) });
      else
        printLines(
          command.terminal,
          checked.steps.map(inEnglish).flatMap(stepLines),
          summaryOf(checked),
        );
      if (!checked.canSettle) throw new FailureShown();
    });
}

const inEnglish = (step: Step) => ({
  ...step,
  finding: wordRefusal(SETUP_FINDINGS, step.finding),
});

function stepLines({ name, state, finding, remedy }: ReturnType<typeof inEnglish>): string[] {
  const mark = `${state.padEnd('advised'.length)}  ${name.padEnd('processor'.length)}  `;
  const help = remedy === null ? [] : [`${' '.repeat(mark.length)}${remedy}`];
  return [`${mark}${cell(finding)}`, ...help];
}

function summaryOf({ merchantName, canSettle, steps }: FirstPayment): string {
  if (canSettle) return `A payment of ${cell(merchantName)} can settle.`;
  const count = steps.filter(({ state }) => state === 'missing').length;
  return `No payment of ${cell(merchantName)} can settle yet: ${count} of ${steps.length} steps ${count === 1 ? 'is' : 'are'} missing.`;
}
