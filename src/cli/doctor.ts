import { wordRefusal } from '#errors/refusals/wording.ts';
import { checkFirstPayment, type FirstPayment } from '#onchain/settlement/first-payment.ts';
import { SETUP_FINDINGS } from '#onchain/settlement/setup-findings.ts';
import type { Step } from '#onchain/settlement/setup-steps.ts';
import { mayLoseUnnoticed } from '#runtime/data-loss-warning.ts';
import type { Database } from '#storage/database/connection.ts';
import { listMerchants } from '#storage/repositories/accounts/merchants.ts';
import type { CliCommand } from './cli-command.ts';
import { cell, type JsonFlag, printLines } from './print.ts';
import { FailureShown } from './terminal.ts';
import { parseId } from './values.ts';

/** Most merchants that are listed for one to be chosen: a screen. */
const LISTED_MAXIMUM = 20;

/** `mp doctor` */
export function define(command: CliCommand): void {
  command
    .json()
    .argument('[merchant]', 'merchant ID; left out, the newest are listed', parseId)
    .addHelpText(
      'after',
      '\nExit status 1 while a step is missing without which no payment settles.',
    )
    .onDatabase(async (opened, merchantId: string | undefined, { json }: JsonFlag) => {
      const { db, config, clock, show } = opened;
      if (merchantId === undefined) return command.error(await askWhose(db));
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

/** The error that a merchant is missing, with those that it may be. */
async function askWhose(db: Database): Promise<string> {
  const merchants = await listMerchants(db, { limit: LISTED_MAXIMUM });
  if (merchants.length === 0)
    return 'error: there is no merchant yet: "mp merchant create" makes one';
  const lines = merchants.map(
    ({ id, name, environment }) => `  ${id}  ${cell(name)} (${environment})`,
  );
  const isAll = merchants.length < LISTED_MAXIMUM;
  return [
    'error: whose? "mp doctor ID" takes one of',
    ...lines,
    ...(isAll ? [] : ['and older ones, which "mp merchant list" shows']),
  ].join('\n');
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
