import { type Static, Type } from '@sinclair/typebox';
import { Uuid } from '#schemas/scalars.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type { AskedAssignment } from '#storage/repositories/deposits/asked-assignments.ts';
import type { DepositContext } from '#storage/repositories/deposits/context.ts';
import type { MeantPayment } from '#storage/repositories/deposits/deviations.ts';
import type { FormFault } from '../../kit/form.ts';
import type { RemedyFields } from './remedy.ts';

/** The payment that a deposit is assigned to. */
export const AskForm = Type.Object({ payment: Uuid('ID of the payment.') });

const consent = {
  /** `yes` from somebody who has read that another payment had asked for this amount. */
  sure: Type.String({ default: '' }),
  /** Both amounts, as the second person typed them to confirm. */
  arrived: Type.String({ default: '' }),
  due: Type.String({ default: '' }),
};
export const AssignForm = Type.Object({ ...AskForm.properties, ...consent });

export type AssignFields = Static<typeof AssignForm>;

export interface FittingPayment {
  readonly payment: Payment;
  /** What it waits for, in the asset's smallest unit. */
  readonly tokenAmount: string;
}

/** What a deposit's page shows. */
export interface DepositParts {
  readonly url: string;
  readonly paymentsUrl: string;
  readonly deposit: Deposit;
  readonly context: DepositContext;
  /** The payment of this merchant that had asked for exactly its amount; undefined without one. */
  readonly meant: MeantPayment | undefined;
  /** The payment of this merchant that it belongs to; undefined while it waits, and for another merchant's. */
  readonly taker: Payment | undefined;
  /** The best fit first. */
  readonly fits: readonly FittingPayment[];
  /** An assignment of too little or too much that waits for a second person; undefined without one. */
  readonly asked:
    | (Pick<AskedAssignment, 'personId' | 'name'> & { readonly payment: Payment })
    | undefined;
  /** ID of the reader. */
  readonly personId: string;
  readonly fault: FormFault | null;
  /** What the form to dismiss it was sent with; undefined at first. */
  readonly fields: RemedyFields | undefined;
  /** An assignment that needs a second person; undefined at first. */
  readonly wanted: AssignFields | undefined;
  /** Whether the reader may assign or dismiss it. */
  readonly maySettle: boolean;
}
