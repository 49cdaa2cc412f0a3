import { type Static, Type } from '@sinclair/typebox';
import { KEY_ID } from '#accounts/input.ts';
import type { MERCHANT_SCOPES } from '#accounts/keys/scopes.ts';
import { StringEnum, Uuid } from '#schemas/scalars.ts';

/** Where a page of the list begins. */
export const KeysQuery = Type.Object({
  after: Type.Optional(Type.String({ pattern: KEY_ID.source })),
});
/** Path of a key's pages. */
export const KeyParams = Type.Object({ keyId: Type.String({ pattern: KEY_ID.source }) });

const intent = Uuid('ID under which a secret is made once, however often the form is sent.');
const ticked = Type.Optional(StringEnum(['', 'on'], 'Whether a key may do it.'));
/** A new key, whose scopes are those of its member. */
export const PartnerKeyForm = Type.Object({
  intent,
  name: Type.String(),
  expiry: Type.String(),
  date: Type.String({ default: '' }),
});
const scopes: Record<(typeof MERCHANT_SCOPES)[number], typeof ticked> = {
  'payment_prompts:write': ticked,
  'payment_prompts:read': ticked,
  'blockchains:read': ticked,
};
/** A new key with the scopes that are ticked. */
export const MerchantKeyForm = Type.Object({ ...PartnerKeyForm.properties, ...scopes });
export type KeyForm = Static<typeof PartnerKeyForm> & Partial<Static<typeof MerchantKeyForm>>;
export const RotateForm = Type.Object({
  intent,
  grace: StringEnum(['yes', 'no'], 'Whether the former secret works a while longer.'),
});
export const RevokeForm = Type.Object({ name: Type.String() });
