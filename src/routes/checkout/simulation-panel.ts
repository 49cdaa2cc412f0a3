import { SIMULATION_CASES } from '../../settlement/simulate.ts';
import { type Html, html } from '../pages/html.ts';
import { renderDisclosure } from './disclosure.ts';

/** Plays what may happen to a payment; never shown in production. */
export function renderSimulation(path: string): Html {
  const buttons = Object.entries(SIMULATION_CASES).map(
    ([name, description]) =>
      html`<li><button name="case" value="${name}"><code>${name}</code> <span>${description}</span></button></li>
`,
  );
  const form = html`<form method="post" action="${path}/simulate"><ul>${buttons}</ul></form>`;
  return renderDisclosure('simulate', 'Simulate (not in production)', form);
}
