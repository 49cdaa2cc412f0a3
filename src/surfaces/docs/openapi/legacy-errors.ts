import { STATUS_CODES } from 'node:http';
import { LEGACY_REFUSALS, type LegacyReason } from '../../legacy/refusal.ts';
import type { Example, ResponseObject } from './document.ts';
import { headerReferences } from './headers.ts';

const REASONS = Object.keys(LEGACY_REFUSALS) as LegacyReason[];
/** Only for paths without a route, so no operation has it. */
const NEVER: LegacyReason = 'routeMissing';

/** The failures of a route of the older contract: 400 only with a body, 404 only with an ID. */
export function legacyReasonsOf(route: { hasBody: boolean; hasId: boolean }): LegacyReason[] {
  return REASONS.filter(reason => {
    const { status } = LEGACY_REFUSALS[reason];
    if (reason === NEVER) return false;
    if (status === 404) return route.hasId;
    return status !== 400 || reason === 'requestInvalid' || route.hasBody;
  });
}

export const LEGACY_HEADERS = headerReferences(['X-Request-Id', 'Deprecation', 'Link', 'Sunset']);

/** One example for each failure, for operations to reference. */
export const LEGACY_EXAMPLES: Readonly<Record<string, Example>> = Object.fromEntries(
  REASONS.filter(reason => reason !== NEVER).map(reason => {
    const { status, message } = LEGACY_REFUSALS[reason];
    const value = { statusCode: status, message, error: STATUS_CODES[status] };
    return [reason, { summary: message, value }];
  }),
);

/** The responses of the failures, one for each status. */
export function legacyErrorResponses(
  reasons: readonly LegacyReason[],
): Record<string, ResponseObject> {
  const byStatus = Map.groupBy(reasons, reason => LEGACY_REFUSALS[reason].status);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus.map(reason => LEGACY_REFUSALS[reason].message).join('; '),
        headers: {
          ...LEGACY_HEADERS,
          ...(status === 401 ? headerReferences(['WWW-Authenticate']) : {}),
          ...(status === 429 ? headerReferences(['Retry-After']) : {}),
        },
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/LegacyError' },
            examples: Object.fromEntries(
              ofStatus.map(reason => [reason, { $ref: `#/components/examples/${reason}` }]),
            ),
          },
        },
      },
    ]),
  );
}
