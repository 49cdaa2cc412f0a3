import { type Static, Type } from '@sinclair/typebox';
import { ALL_TYPES } from '#payments/webhooks/manage-endpoints.ts';
import { EVENT_TYPES } from '#schemas/event.ts';
import { DELIVERY_STATUSES } from '#schemas/list-events.ts';
import { StringEnum, Uuid } from '#schemas/scalars.ts';
import { DaysQuery } from '../../kit/filters.ts';
import { PlaceQuery } from '../../kit/list.ts';

/** Paths of an endpoint, and of a delivery to it. */
export const EndpointParams = Type.Object({ endpointId: Uuid('ID of the endpoint.') });
export const DeliveryParams = Type.Object({
  ...EndpointParams.properties,
  deliveryId: Uuid('ID of the delivery.'),
});

/** Which deliveries an endpoint's page lists. */
export const DeliveriesQuery = Type.Object({
  ...DaysQuery.properties,
  status: Type.Optional(StringEnum(DELIVERY_STATUSES, 'Outcome of the deliveries.')),
  ...PlaceQuery.properties,
});
export type WantedDeliveries = Static<typeof DeliveriesQuery>;

const intent = Uuid('ID under which a secret is made once, however often the form is sent.');
export const TYPE_CHOICES = [ALL_TYPES, ...EVENT_TYPES] as const;
export const NewEndpointForm = Type.Object({
  intent,
  url: Type.String(),
  type: Type.Array(StringEnum(TYPE_CHOICES, 'What the endpoint receives.')),
});
export type EndpointFields = Pick<Static<typeof NewEndpointForm>, 'url' | 'type'>;
export const RotateForm = Type.Object({ intent });
/** A time in UTC, as browsers send it: `2026-05-17T12:00`. */
export const RedeliverFailedForm = Type.Object({ since: Type.String() });
