import { createClient } from '#client/index.ts';
import type { SimulatePaymentBody } from '#schemas/simulate-payment.ts';
import { SIMULATION_CASES } from '#schemas/simulation-cases.ts';
import { type JsonFlag, printObject } from '../print.ts';
import { defineCommand, JSON_OPTION, URL_OPTION } from './command.ts';
import { describeClientFailure } from './failure.ts';
import { parseUuid } from './options.ts';

interface SimulateGiven extends JsonFlag {
  readonly payment: string;
  readonly case: SimulatePaymentBody['case'];
  readonly network?: NonNullable<SimulatePaymentBody['blockchainId']>;
}

/** `mp simulate PAYMENT --case CASE` */
export const command = defineCommand<SimulateGiven>({
  positionals: [{ name: 'payment', description: 'ID of the payment', parse: parseUuid }],
  options: [
    JSON_OPTION,
    {
      flags: '--case <case>',
      description: 'what the customer and the chain do',
      choices: SIMULATION_CASES,
      isRequired: true,
    },
    {
      flags: '--network <id>',
      description: 'network to choose if the payment has none (default: the first one it offers)',
    },
    URL_OPTION,
  ],
  notes:
    'Only payments of a test merchant are simulated, with its own key: no coins and no node are needed,\n' +
    'and its webhooks are sent as for a real payment. A US account has confirm, detect, fail and cancel.\n' +
    'Exit status: 0 once it is played, else 1.',
  async run(context, given) {
    const { baseUrl, credentials } = await context.connect({ ...given });
    const { case: played, network: blockchainId } = given;
    const body = { case: played, ...(blockchainId === undefined ? {} : { blockchainId }) };
    const { payment, waits } = await createClient({ baseUrl, ...credentials })
      .simulatePayment(given.payment, body)
      .catch(error => {
        throw describeClientFailure(context, baseUrl, error);
      });
    printObject(context.terminal, given, payment, waits ?? `The payment is ${payment.status}.`);
  },
});
