import { failures } from './failures.ts';
import { formats } from './formats.ts';
import { home } from './home.ts';
import { keys } from './keys.ts';
import { lists } from './lists.ts';
import { partner } from './partner.ts';
import { payments } from './payments.ts';
import { shell } from './shell.ts';
import { unmatched } from './unmatched.ts';

/** English, by part of the panel. */
export const en = { failures, formats, home, keys, lists, partner, payments, shell, unmatched };
