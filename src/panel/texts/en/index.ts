import { failures } from './failures.ts';
import { formats } from './formats.ts';
import { home } from './home.ts';
import { keys } from './keys.ts';
import { shell } from './shell.ts';
import { unmatched } from './unmatched.ts';

/** English, by part of the panel. */
export const en = { failures, formats, home, keys, shell, unmatched };
