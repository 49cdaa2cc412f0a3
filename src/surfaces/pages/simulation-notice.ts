import { html } from './html.ts';

/** Shown on every page if payments can be simulated, so that nobody takes them for real ones. */
export const SIMULATION_NOTICE = html`<aside class="simulation" aria-label="Simulation">Simulation: payments can be marked as paid without money.</aside>
`;
