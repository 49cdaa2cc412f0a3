import { html } from './html.ts';

/** Is on every page of a service that simulates, so that nobody takes a payment there for a real one. */
export const SIMULATION_NOTICE = html`<aside class="simulation" aria-label="Simulation">Simulation: payments can be marked as paid without money.</aside>
`;
