import { en } from './en/index.ts';

/**
 * What the panel says. A second language is a catalogue of the same type, since a text that it lacks does
 * not compile, and a choice here.
 */
export type PanelTexts = typeof en;

export const texts: PanelTexts = en;
