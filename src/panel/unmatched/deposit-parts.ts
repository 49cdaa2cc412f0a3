import { type Static, Type } from '@sinclair/typebox';
import { Uuid } from '#schemas/scalars.ts';
import type { Deposit } from '../../database/deposit-tables.ts';
import type { Payment } from '../../database/payment-tables.ts';
import type { AskedAssignment } from '../../repositories/deposits/asked-assignments.ts';
import type { DepositContext } from '../../repositories/deposits/context.ts';
import type { MeantPayment } from '../../repositories/deposits/deviations.ts';
import type { ConsentNeeded } from '../../settlement/assignment.ts';
import type { FormFault } from '../form.ts';
import type { RemedyFields } from './remedy.ts';

/** Whom a deposit is assigned to. */
export const AskForm = Type.Object({ payment: Uuid('ID of the payment.') });

const consent = {
  /** `yes` where whoever sends it knows that the amount was another payment's. */
  sure: Type.String({ default: '' }),
  /** Both amounts, typed. */
  arrived: Type.String({ default: '' }),
  due: Type.String({ default: '' }),
};
export const AssignForm = Type.Object({ ...AskForm.properties, ...consent });

/** What a form that assigns says beside the payment. */
export type AssignFields = Omit<Static<typeof AssignForm>, 'payment'>;

/** An assignment that was refused until somebody consents. */
export interface Wanted {
  readonly payment: Payment;
  readonly refusal: ConsentNeeded;
  readonly fields: AssignFields;
}

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
  readonly fits: readonly FittingPayment[];
  /** An assignment of too little that waits for a second person; undefined without one. */
  readonly asked:
    | (Pick<AskedAssignment, 'personId' | 'name'> & { readonly payment: Payment })
    | undefined;
  /** ID of whoever looks. */
  readonly personId: string;
  readonly fault: FormFault | null;
  /** What was given to dismiss it; undefined at first. */
  readonly fields: RemedyFields | undefined;
  /** An assignment that needs consent; null at first. */
  readonly wanted: Wanted | null;
  /** Whether the reader may assign or dismiss it. */
  readonly maySettle: boolean;
}
