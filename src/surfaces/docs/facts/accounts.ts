import { BRANCHES_MAXIMUM } from '#accounts/branches.ts';
import { RECOVERY_HOLD_MS } from '#accounts/change-rights.ts';
import { FORMER_TOLD_MS } from '#accounts/change-steps.ts';
import {
  ACTIVE_KEYS_MAXIMUM,
  KEY_ID_BYTES,
  PASSPHRASE_BYTES,
  ROTATION_GRACE_MS,
  SECRET_BYTES,
} from '#accounts/keys/manage-keys.ts';
import {
  MERCHANT_SCOPES,
  PARTNER_DEVELOPER_SCOPES,
  PARTNER_OWNER_SCOPES,
} from '#accounts/keys/scopes.ts';
import { RETRY_PAUSES_MS } from '#accounts/mail/outbox.ts';
import { PUT_ASIDE_KEPT_MS } from '#accounts/people/attention-put-aside.ts';
import { COMMON_PASSWORDS } from '#accounts/people/common-passwords.ts';
import { EMAIL_LINK_MS } from '#accounts/people/confirm-email.ts';
import { ASKED_LIMITS } from '#accounts/people/forgotten-password.ts';
import { LINK_LIFETIMES } from '#accounts/people/invitations.ts';
import {
  IDLE_MS,
  LIFETIME_MS,
  RECENT_MS,
  SESSIONS_MAXIMUM,
} from '#accounts/people/panel-sessions.ts';
import { PASSWORD_MAXIMUM, PASSWORD_MINIMUM } from '#accounts/people/password-rules.ts';
import { SESSION_WRONG_MAXIMUM } from '#accounts/people/proofs.ts';
import { RECOVERY_CODES } from '#accounts/people/recovery-codes.ts';
import { ATTEMPT_LIMITS } from '#accounts/people/throttle.ts';
import { KEY_PAUSE_MS } from '#accounts/requests/deferred-explanations.ts';
import {
  REQUEST_RETENTION_DAYS,
  REQUESTS_PER_ACCOUNT_MAXIMUM,
} from '#accounts/requests/stored-fields.ts';
import { BULK_REDELIVERIES, REDELIVERIES } from '#http/rate-limit.ts';
import { PART_MINIMUM } from '#payments/search-payments.ts';
import { SEARCH_WINDOW } from '#storage/repositories/payments/search.ts';
import { EXPORT_DAYS_MAXIMUM } from '../../panel/kit/export-days.ts';
import { formatDuration } from '../format-duration.ts';
import { codes } from '../write-markdown.ts';
import type { Facts } from './facts.ts';

/** What guides tell of keys, people and the panel. */
export const ACCOUNT_FACTS: Facts = {
  'branch.max': BRANCHES_MAXIMUM,
  'key.active-max': ACTIVE_KEYS_MAXIMUM,
  'key.id-digits': 2 * KEY_ID_BYTES,
  'key.secret-digits': 2 * SECRET_BYTES,
  'key.passphrase-bytes': PASSPHRASE_BYTES,
  'key.rotation-grace': formatDuration(ROTATION_GRACE_MS / 1000),
  'scopes.merchant': codes(MERCHANT_SCOPES),
  'scopes.owner': codes(PARTNER_OWNER_SCOPES),
  'scopes.developer': codes(PARTNER_DEVELOPER_SCOPES),
  'sign-in.session-wrong': SESSION_WRONG_MAXIMUM,
  'link.invitation': formatDuration(LINK_LIFETIMES.invitation / 1000),
  'link.renewal': formatDuration(LINK_LIFETIMES.both / 1000),
  'recovery.codes': RECOVERY_CODES,
  'password.min': PASSWORD_MINIMUM,
  'password.max': PASSWORD_MAXIMUM,
  'password.common': COMMON_PASSWORDS.toLocaleString('en-US'),
  'panel.export-days': EXPORT_DAYS_MAXIMUM,
  'panel.idle': formatDuration(IDLE_MS / 1000),
  'panel.lifetime': formatDuration(LIFETIME_MS / 1000),
  'panel.sessions': SESSIONS_MAXIMUM,
  'panel.recent': formatDuration(RECENT_MS / 1000),
  'panel.former-told': formatDuration(FORMER_TOLD_MS / 1000),
  'panel.put-aside': formatDuration(PUT_ASIDE_KEPT_MS / 1000),
  'panel.recovery-hold': formatDuration(RECOVERY_HOLD_MS / 1000),
  'mail.pauses': RETRY_PAUSES_MS.map(pause => formatDuration(pause / 1000)).join(', '),
  'mail.asked': ASKED_LIMITS.failures,
  'mail.confirming': formatDuration(EMAIL_LINK_MS / 1000),
  'mail.asked-window': formatDuration(ASKED_LIMITS.windowMs / 1000),
  'sign-in.failures': ATTEMPT_LIMITS.failures,
  'sign-in.window': formatDuration(ATTEMPT_LIMITS.windowMs / 1000),
  'sign-in.in-row': ATTEMPT_LIMITS.inRow,
  'requests.kept-days': REQUEST_RETENTION_DAYS,
  'requests.kept-most': REQUESTS_PER_ACCOUNT_MAXIMUM.toLocaleString('en-US'),
  'requests.explained-pause': formatDuration(KEY_PAUSE_MS / 1000),
  'panel.redeliveries': REDELIVERIES.most,
  'panel.bulk-redeliveries': BULK_REDELIVERIES.most,
  'panel.search-part': PART_MINIMUM,
  'panel.search-window': SEARCH_WINDOW.toLocaleString('en-US'),
};
