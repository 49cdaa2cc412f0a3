import {
  ADDRESS_PROBLEMS,
  type AddressProblem,
  type AddressProblemArguments,
} from '#errors/refusals/address-problems.ts';
import { wordRefusal } from '#errors/refusals/wording.ts';

/**
 * An address that is refused. The problem explains it to the operator and never repeats the text: a private
 * key pasted by mistake must not end up in a log.
 */
export class InvalidAddress extends Error {
  override name = 'InvalidAddress';
  readonly problem: AddressProblem;

  constructor(...[code, values]: AddressProblemArguments) {
    super(wordRefusal(ADDRESS_PROBLEMS, { code, values }));
    this.problem = { code, values };
  }
}
