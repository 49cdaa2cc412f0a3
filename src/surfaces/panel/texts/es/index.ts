import type { PanelTexts } from '../panel-texts.ts';
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
import { refusals } from './refusals/index.ts';
import { requests } from './requests.ts';
import { settings } from './settings.ts';
import { setupFindings } from './setup-findings.ts';
import { shell } from './shell.ts';
import { signIn } from './sign-in.ts';
import { team } from './team.ts';
import { unmatched } from './unmatched.ts';
import { webhooks } from './webhooks.ts';

/** Spanish, by part of the panel. */
export const es: PanelTexts = {
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
  refusals,
  requests,
  settings,
  setupFindings,
  shell,
  signIn,
  team,
  unmatched,
  webhooks,
};
