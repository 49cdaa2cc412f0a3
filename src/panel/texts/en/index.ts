import { shell } from './shell.ts';

/** English, by part of the panel. */
export const en = { shell };
