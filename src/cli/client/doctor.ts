import { cell, type JsonFlag, printJson, printLines } from '../print.ts';
import { FailureShown } from '../terminal.ts';
import { defineCommand, JSON_OPTION, URL_OPTION } from './command.ts';
import { type Check, checkKey, checkService } from './doctor-checks.ts';
import { describeClientFailure } from './failure.ts';

/** `mp doctor` */
export const command = defineCommand<JsonFlag>({
  positionals: [],
  options: [JSON_OPTION, URL_OPTION],
  notes: 'It creates nothing. Exit status: 0 when nothing is wrong, else 1.',
  async run(context, given) {
    const { terminal } = context;
    const connection = await context.connect({ ...given });
    const service = await checkService(connection.baseUrl, context);
    // The key is sent only to what responds as the service does.
    const isService = service.every(({ state }) => state !== 'wrong');
    const key = isService
      ? await checkKey(connection).catch(error => {
          throw describeClientFailure(context, connection.baseUrl, error);
        })
      : [];
    const checks = [...service, ...key];
    const isFine = checks.every(({ state }) => state !== 'wrong');
    if (given.json) printJson(terminal, { isFine, checks });
    else printLines(terminal, checks.flatMap(linesOf));
    if (!isFine) throw new FailureShown();
  },
});

function linesOf({ name, state, finding, remedy }: Check): string[] {
  const mark = `${state.padEnd('advised'.length)}  ${name.padEnd('payment_prompts:write'.length)}  `;
  const help = remedy === undefined ? [] : [`${' '.repeat(mark.length)}${cell(remedy)}`];
  return [`${mark}${cell(finding)}`, ...help];
}
