import { type Static, Type } from '@sinclair/typebox';
import { Closed } from './scalars.ts';

export const ErrorEnvelopeSchema = Closed({
  error: Closed({
    type: Type.String({ description: 'Category of the error.' }),
    code: Type.String({ description: 'Slug for programmatic handling.' }),
    errorCode: Type.String({ description: 'Short code such as E1002.' }),
    message: Type.String({ description: 'Developer-facing text.' }),
    param: Type.Optional(Type.String({ description: 'Name of the parameter at fault.' })),
    docUrl: Type.String({ description: "URL of the error's documentation." }),
    userSafeMessage: Type.Boolean({
      description: 'True only when `message` may be shown to customers as it is.',
    }),
    requestId: Type.String({
      description:
        'Unique ID of the request, as in `X-Request-Id`. A stored failure that is replayed has the ID of the request that failed.',
    }),
  }),
});

export type ErrorEnvelope = Static<typeof ErrorEnvelopeSchema>;
