import { vi } from 'vitest';
import * as docs from '../../src/docs/render-docs.ts';

const render = docs.renderDocs;
const rendered = new Map<string, ReturnType<typeof render>>();

/**
 * Lets applications that document the same share what is rendered: that takes most of an application's start,
 * and a worker of the tests starts fifty.
 */
export function shareRenderedDocs(): void {
  if (vi.isMockFunction(docs.renderDocs)) return;
  vi.spyOn(docs, 'renderDocs').mockImplementation((settings, document) => {
    const { client, ...others } = settings;
    const key = JSON.stringify([others, client?.integrity, document]);
    const found = rendered.get(key) ?? render(settings, document);
    rendered.set(key, found);
    return found;
  });
}
