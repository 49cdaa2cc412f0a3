import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../../errors/api-error.ts';
import { ERRORS, type ErrorCode } from '../../errors/catalogue.ts';
import {
  type ErrorHandlerOptions,
  logFailure,
  sendError,
  toApiError,
} from '../../errors/handler.ts';
import { basePathOf } from '../pages/base-path.ts';
import { html } from '../pages/html.ts';
import { renderDocument, sendDocument } from './document.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a checkout route answers scripts, in JSON, instead of people. */
    readonly answersScripts?: boolean;
  }
}

/** What every failure of the checkout is answered with. */
export interface CheckoutAnswers extends ErrorHandlerOptions {
  /** Whether payments may be simulated. */
  readonly simulation: boolean;
}

interface FailureTexts {
  readonly title: string;
  readonly text: string;
}

const MALFORMED: FailureTexts = {
  title: 'This request cannot be read',
  text: 'Go back to the payment page, reload it and try again.',
};

const TEXTS: Partial<Record<ErrorCode, FailureTexts>> = {
  E1000: MALFORMED,
  E1001: MALFORMED,
  E1002: MALFORMED,
  E1040: {
    title: 'This is not possible any more',
    text: 'The payment has moved on. Go back to its page and reload it.',
  },
  E3001: {
    title: 'There is no such payment page',
    text: 'Check that the whole link was copied, or go back to the shop and start again.',
  },
  E5002: {
    title: 'Not available just now',
    text: 'Nothing has happened to your payment. Please try again in a minute.',
  },
  E9001: {
    title: 'Too many requests',
    text: 'Please wait a minute, then reload the page.',
  },
};

const BROKEN: FailureTexts = {
  title: 'Something went wrong on our side',
  text: 'Please try again in a minute. Do not send a payment a second time.',
};

/** Answers people with a page that looks like the others, and scripts with the envelope. */
export function sendFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: CheckoutAnswers,
): FastifyReply {
  if (wantsJson(request)) return sendError(error, request, reply, options);
  const apiError = toApiError(error, options.isUnavailable);
  logFailure(request, apiError);
  request.errorCode = apiError.errorCode;
  if (apiError.retryAfterSeconds !== undefined) {
    reply.header('retry-after', String(apiError.retryAfterSeconds));
  }
  const page = renderFailure(apiError, request.id, options);
  return sendDocument(reply, ERRORS[apiError.errorCode].status, page);
}

/** The page that tells a person of a failure. */
export function renderFailure(
  { errorCode }: ApiError,
  requestId: string,
  { publicUrl, simulation }: CheckoutAnswers,
): string {
  const { title, text } = TEXTS[errorCode] ?? BROKEN;
  const content = html`<main id="checkout">
<section class="card outcome failure">
<h1 id="title" tabindex="-1">${title}</h1>
<p>${text}</p>
</section>
</main>
<footer><p>Request <code>${requestId}</code></p></footer>`;
  return renderDocument({ title, content, basePath: basePathOf(publicUrl), simulation });
}

/** Whether a request was made by a script rather than by somebody who reads a page. */
export function wantsJson({ headers, routeOptions }: FastifyRequest): boolean {
  if (routeOptions.config?.answersScripts === true) return true;
  const accept = headers.accept ?? '';
  return accept.includes('application/json') && !accept.includes('text/html');
}
