import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiError, HeadTooLarge } from '#errors/api-error.ts';
import type { ErrorCode } from '#errors/catalogue.ts';
import { type ErrorHandlerOptions, failPage, sendError } from '#errors/handler.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { html } from '../../pages/html.ts';
import { renderDocument, sendDocument } from './document.ts';
import { type Locale, localeOf } from './locale.ts';
import type { CheckoutTexts } from './texts/en.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a checkout route is for scripts, which get failures as JSON, not for people. */
    readonly isForScripts?: boolean;
  }
}

/** What failures of the checkout are rendered with. */
export interface CheckoutFailureOptions extends ErrorHandlerOptions {
  /** Whether payments may be simulated. */
  readonly simulation: boolean;
}

/** The text that explains an error code; any other code is `broken`. */
const FAILURES: Partial<Record<ErrorCode, keyof CheckoutTexts['failures']>> = {
  E1000: 'malformed',
  E1001: 'malformed',
  E1002: 'malformed',
  E1040: 'conflict',
  E3001: 'missing',
  E5002: 'unavailable',
  E9001: 'tooMany',
};

/** Sends people a page in the checkout's style, and scripts the JSON of the API. */
export function sendFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: CheckoutFailureOptions,
): FastifyReply {
  if (wantsJson(request)) return sendError(error, request, reply, options);
  const refusal = failPage(error, request, reply, options);
  const page = renderFailure(refusal, request.id, localeOf(request), options);
  return sendDocument(reply, reply.statusCode, page);
}

/** The page about a failure. */
export function renderFailure(
  refusal: ApiError,
  requestId: string,
  locale: Locale,
  { publicUrl, simulation }: CheckoutFailureOptions,
): string {
  const { failures, request } = locale.texts;
  const named = refusal instanceof HeadTooLarge ? 'tooLarge' : FAILURES[refusal.errorCode];
  const { title, text } = failures[named ?? 'broken'];
  const content = html`<main id="checkout">
<section class="card outcome failure">
<h1 id="title" tabindex="-1">${title}</h1>
<p>${text}</p>
</section>
</main>
<footer><p>${request} <code>${requestId}</code></p></footer>`;
  return renderDocument({ title, content, basePath: basePathOf(publicUrl), locale, simulation });
}

/** Whether a script made the request rather than a person's browser. */
export function wantsJson({ headers, routeOptions }: FastifyRequest): boolean {
  if (routeOptions.config?.isForScripts === true) return true;
  const accept = headers.accept ?? '';
  return accept.includes('application/json') && !accept.includes('text/html');
}
