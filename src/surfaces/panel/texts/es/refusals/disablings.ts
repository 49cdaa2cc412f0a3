import type { PanelTexts } from '../../panel-texts.ts';

export const disablings: PanelTexts['webhooks']['disablings'] = {
  answeredGone: 'Respondió 410 Gone.',
  by: name => `Lo desactivó ${name}.`,
};
