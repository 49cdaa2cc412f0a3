import { REFUSALS } from '#errors/refusals/refused.ts';
import { SETUP_FINDINGS } from '#onchain/settlement/setup-findings.ts';
import { activity } from './activity.ts';
import { appearance } from './appearance.ts';
import { changes } from './changes.ts';
import { failures } from './failures.ts';
import { formats } from './formats.ts';
import { home } from './home.ts';
import { join } from './join.ts';
import { keys } from './keys.ts';
import { lists } from './lists.ts';
import { mails } from './mails.ts';
import { partner } from './partner.ts';
import { payments } from './payments.ts';
import { profile } from './profile.ts';
import { requests } from './requests.ts';
import { settings } from './settings.ts';
import { shell } from './shell.ts';
import { signIn } from './sign-in.ts';
import { team } from './team.ts';
import { unmatched } from './unmatched.ts';
import { webhooks } from './webhooks.ts';

/** English, by part of the panel. */
export const en = {
  activity,
  appearance,
  changes,
  failures,
  formats,
  home,
  join,
  keys,
  lists,
  mails,
  partner,
  payments,
  profile,
  /** Why operations are refused, by code. */
  refusals: REFUSALS,
  requests,
  settings,
  /** What is set up until a first payment can settle, or what fails without it, by code. */
  setupFindings: SETUP_FINDINGS,
  shell,
  signIn,
  team,
  unmatched,
  webhooks,
};
