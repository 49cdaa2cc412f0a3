import { type Html, html } from './html.ts';

/** The notice of pages in English alone. */
export const SIMULATION_NOTICE = {
  label: 'Simulation',
  text: 'Simulation: payments can be marked as paid without money.',
};

/** Shown on every page if payments can be simulated, so that nobody takes them for real ones. */
export function renderSimulationNotice({ label, text }: typeof SIMULATION_NOTICE): Html {
  return html`<aside class="simulation" aria-label="${label}">${text}</aside>
`;
}
