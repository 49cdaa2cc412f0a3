import { en } from './en/index.ts';
import type { PanelTexts } from './panel-texts.ts';

export type { PanelTexts };

export const texts: PanelTexts = en;
