import { readServiceAddress } from '#client/service-address.ts';
import { PREFIX, searchPages } from './search-pages.ts';
import { ANSWER_MAXIMUM, type Tool, tool } from './tool.ts';

/** Path of a documentation page; nothing else is fetched. */
const PAGE = '^/docs(/[A-Za-z0-9-]+)*$';
const NEXT_PART = ANSWER_MAXIMUM - 200;

/** Tools for the documentation that the service publishes. They need no key. */
export function docsTools(baseUrl: string, timeoutMs: number): Tool[] {
  const service = readServiceAddress(baseUrl);

  /** @returns undefined for a page that does not exist. */
  async function read(path: string): Promise<string | undefined> {
    const { url } = service.locate(path);
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { accept: 'text/markdown, application/json' },
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error: Error) => {
      const { cause } = error;
      throw new Error(
        `${url.href} got no answer: ${cause instanceof Error ? cause.message : error.message}`,
      );
    });
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`${url.href} was answered with HTTP ${response.status}`);
    return response.text();
  }

  return [
    tool<{ code: string }>({
      name: 'read_error',
      title: 'Explain an error code',
      description:
        'What an error code of the API means and what to do about it. Codes are like E1001; errors have them in ' +
        'errorCode.',
      properties: {
        code: { type: 'string', pattern: '^[Ee][0-9]{4}$', description: 'Like E2007.' },
      },
      required: ['code'],
      async run({ code }) {
        const page = await read(`${PREFIX}/errors/${code.toUpperCase()}.md`);
        if (page === undefined) throw new Error(`There is no error code ${code.toUpperCase()}.`);
        return page;
      },
    }),
    tool<{ query: string }>({
      name: 'search_guides',
      title: 'Search the documentation',
      description:
        'Finds sections of the guides and of the API reference by words that they contain, the best first, with ' +
        'the path of the page for read_guide. Use a few telling words: a field, a header, a term.',
      properties: {
        query: { type: 'string', minLength: 2, maxLength: 200, description: 'Words, in English.' },
      },
      required: ['query'],
      async run({ query }) {
        const index = JSON.parse((await read(`${PREFIX}/search.json`)) ?? '[]');
        const found = searchPages(index, query);
        return found.length > 0 ? found : `Nothing in the documentation has “${query}”.`;
      },
    }),
    tool<{ path: string; offset?: number }>({
      name: 'read_guide',
      title: 'Read a page of the documentation',
      description:
        `A page as Markdown, by a path from search_guides; ${PREFIX} lists all. A long page comes in parts: it ` +
        'says the offset of the next one.',
      properties: {
        path: {
          type: 'string',
          pattern: PAGE,
          maxLength: 200,
          description: 'Like /docs/webhooks.',
        },
        offset: { type: 'integer', minimum: 0, default: 0, description: 'Characters to skip.' },
      },
      required: ['path'],
      async run({ path, offset = 0 }) {
        const page = await read(path === PREFIX ? `${PREFIX}/index.md` : `${path}.md`);
        if (page === undefined)
          throw new Error(`There is no page ${path}: search_guides finds them.`);
        if (offset > 0 && offset >= page.length)
          throw new Error(`${path} has ${page.length} characters: nothing is at ${offset}.`);
        const next = offset + NEXT_PART;
        const part = page.slice(offset, next);
        return next < page.length ? `${part}\n\n[more: offset ${next} of ${page.length}]` : part;
      },
    }),
  ];
}
