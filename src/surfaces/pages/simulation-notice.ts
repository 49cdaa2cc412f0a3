import { html } from './html.ts';

/** On every page of a service that simulates, so that its payments are not taken for real ones. */
export const SIMULATION_NOTICE = html`<aside class="simulation" aria-label="Simulation">Simulation: payments can be marked as paid without money.</aside>
`;
