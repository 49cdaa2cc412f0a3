import { en } from './en/index.ts';

/**
 * The panel's texts. A second language is another catalogue of this type, so that a missing text does not compile,
 * and a choice here.
 */
export type PanelTexts = typeof en;

export const texts: PanelTexts = en;
