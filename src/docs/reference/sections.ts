import { type Html, html } from '../../routes/pages/html.ts';
import { renderCode, renderMarkdown, slugOf } from '../markdown.ts';
import type { OpenApiDocument, Parameter } from '../openapi/document.ts';
import { objectId, renderContent, renderFields, renderNames } from './field-list.ts';
import { describeField, fieldsOf, sharedObjects } from './fields.ts';
import {
  contentOf,
  mediaOf,
  type ReferenceGroup,
  type ReferenceOperation,
  referenceGroups,
} from './operations.ts';

/** What the reference is written from, and where it is. */
interface Source {
  readonly document: OpenApiDocument;
  readonly basePath: string;
}

const SIGNING_INTRODUCTION =
  'Every request of v1 and of the partner reports carries five headers. [Signing requests](/docs/signing) has the canonical request, a worked example and programs in four languages.';
const HEADERS_INTRODUCTION =
  'Beside the usual ones. `Deprecation`, `Link` and `Sunset` belong to the older contract; [errors](/docs/errors) have one envelope.';
const WEBHOOKS_INTRODUCTION =
  'Sent to your endpoint with `POST`. [Webhooks](/docs/webhooks) tells how to verify them and how they are retried.';

/** The reference, written from the document alone. */
export function renderReference(document: OpenApiDocument, basePath: string): Html {
  const source = { document, basePath };
  return html`${renderAuthentication(source)}
${renderHeaders(source)}
${referenceGroups(document).map(group => renderGroup(group, source))}
${renderWebhooks(source)}
${renderObjects(source)}`;
}

/** Titles and anchors of the reference's parts, for its navigation. */
export function referenceParts(document: OpenApiDocument) {
  return [
    {
      title: 'Reference',
      links: [
        { id: 'authentication', text: 'Authentication' },
        { id: 'headers', text: 'Headers of answers' },
      ],
    },
    ...referenceGroups(document).map(({ name, operations }) => ({
      title: name,
      links: operations.map(({ id, summary }) => ({ id, text: summary })),
    })),
    { title: 'Webhooks', links: [{ id: 'webhooks', text: 'Events' }] },
    {
      title: 'Objects',
      links: sharedObjects(document).map(name => ({ id: objectId(name), text: name })),
    },
  ];
}

function renderAuthentication({ document, basePath }: Source): Html {
  const schemes = Object.values(document.components.securitySchemes);
  const headers = schemes.flatMap(({ name, description }) =>
    name === undefined ? [] : [{ name, text: description }],
  );
  return html`<section class="operation">
<div class="told">
${heading(2, 'authentication', 'Authentication')}
${markdown(SIGNING_INTRODUCTION, basePath)}
${renderNames(headers, basePath)}
</div>
<div class="shown">
<h3>Base address</h3>
${code(document.servers[0]?.url ?? '')}
<h3>Signed request</h3>
${code(headers.map(({ name }) => `${name}: …`).join('\n'), 'http')}
</div>
</section>`;
}

function renderHeaders({ document, basePath }: Source): Html {
  const headers = Object.entries(document.components.headers);
  return html`<section>
<div class="told">
${heading(2, 'headers', 'Headers of answers')}
${markdown(HEADERS_INTRODUCTION, basePath)}
${renderNames(
  headers.map(([name, { description }]) => ({ name, text: description })),
  basePath,
)}
</div>
</section>`;
}

function renderGroup({ name, description, operations }: ReferenceGroup, source: Source): Html {
  return html`<section>
${heading(2, slugOf(name), name)}
${markdown(description, source.basePath)}
${operations.map(operation => renderOperation(operation, source))}
</section>`;
}

function renderOperation(operation: ReferenceOperation, source: Source): Html {
  const { id, method, path, summary, description, scope, deprecated, body, success } = operation;
  const { basePath } = source;
  return html`<section class="operation">
<div class="told">
${heading(3, id, summary)}
<p class="route"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${deprecated && html`<p class="deprecated">Deprecated</p>`}
${markdown(description, basePath)}
${scope !== null && html`<p class="scope">Scope <code>${scope}</code></p>`}
${operation.parameters.map(part => html`<h4>${part.title}</h4>${renderParameters(part.parameters, source)}`)}
${body !== null && html`<h4>Body</h4>${renderContent(body, 'sent', basePath)}`}
<h4>Answer ${success.status}</h4>
${renderContent(success, 'received', basePath)}
<h4>Errors</h4>
${renderErrors(operation, basePath)}
</div>
<div class="shown">
<h4>Request</h4>
${code(operation.request, 'http')}
<h4>Answer ${success.status}</h4>
${code(operation.response, 'json')}
</div>
</section>`;
}

function renderErrors({ errorCodes, failures }: ReferenceOperation, basePath: string): Html {
  if (errorCodes.length === 0) {
    const names = failures.map(({ status, description }) => ({ name: status, text: description }));
    return renderNames(names, basePath);
  }
  return html`<ul class="codes">${errorCodes.map(
    errorCode => html`<li><a href="${basePath}/docs/errors/${errorCode}">${errorCode}</a></li>`,
  )}</ul>`;
}

function renderParameters(
  parameters: readonly Parameter[],
  { document, basePath }: Source,
): Html | null {
  const fields = parameters.map(({ name, schema, required = false, description = '' }) =>
    describeField(name, { ...schema, description }, required, document),
  );
  return renderFields(fields, 'sent', basePath);
}

/** All events at once: they differ in their type alone. */
function renderWebhooks(source: Source): Html {
  const { document, basePath } = source;
  const webhooks = Object.entries(document.webhooks).flatMap(([type, { post }]) =>
    post === undefined ? [] : [{ type, post }],
  );
  const [first] = webhooks;
  if (first === undefined) throw new Error('the document has no webhook');
  const { post: shown } = webhooks.find(({ type }) => type.endsWith('.successful')) ?? first;
  const events = webhooks.map(({ type, post }) => ({ name: type, text: post.description }));
  const answers = Object.entries(shown.responses).map(([status, { description }]) => ({
    name: status,
    text: description,
  }));
  return html`<section class="operation">
<div class="told">
${heading(2, 'webhooks', 'Webhooks')}
${markdown(WEBHOOKS_INTRODUCTION, basePath)}
${renderNames(events, basePath)}
<h3>Headers</h3>
${renderParameters(shown.parameters ?? [], source)}
<h3>Body</h3>
${renderContent(contentOf(mediaOf(shown.requestBody), document), 'received', basePath)}
<h3>Your answer</h3>
${renderNames(answers, basePath)}
</div>
<div class="shown">
<h3>Body</h3>
${code(JSON.stringify(mediaOf(shown.requestBody)?.example, null, 2), 'json')}
</div>
</section>`;
}

function renderObjects({ document, basePath }: Source): Html {
  const { schemas } = document.components;
  return html`<section>
${heading(2, 'objects', 'Objects')}
${sharedObjects(document).map(
  name => html`<section class="object">
${heading(3, objectId(name), name)}
${renderFields(fieldsOf(schemas[name] ?? {}, document), 'received', basePath)}
</section>`,
)}
</section>`;
}

function heading(depth: 2 | 3, id: string, text: string): Html {
  const inner = html`<a class="anchor" href="#${id}">${text}</a>`;
  return depth === 2 ? html`<h2 id="${id}">${inner}</h2>` : html`<h3 id="${id}">${inner}</h3>`;
}

function markdown(text: string, basePath: string): Html {
  return { markup: renderMarkdown(text, basePath).markup };
}

function code(source: string, language?: string): Html {
  return { markup: renderCode(source, language) };
}
