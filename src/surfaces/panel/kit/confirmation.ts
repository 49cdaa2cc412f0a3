import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { confirm, confirmDemo } from '#accounts/people/second-factor.ts';
import { type Html, html } from '../../pages/html.ts';
import { sessionOf, visitOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { logRefusal } from '../hooks/log-fields.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import type { PanelPage } from './document.ts';
import { faultOf } from './failures.ts';
import { type FormFault, renderField } from './form.ts';
import { proverOf } from './fresh-factor.ts';

/** What a form asks before it does anything. */
export interface Question {
  readonly title: string;
  /** What will happen, with values. */
  readonly content: Html;
  /** The button that does it. */
  readonly submit: string;
  /** Fields that say what else the answer consents to, added to what was sent. */
  readonly fields?: Readonly<Record<string, string>>;
  /** The page to return to without doing it, without the base path. */
  readonly back: string;
}

/** What somebody has answered to `registerConfirmation`. */
interface Answer {
  /** Whether the question was shown and answered. */
  readonly isSure: boolean;
  /** Their second factor; undefined if the request has none. */
  readonly code: string | undefined;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Asks before the form is done; null for a form that need not ask. */
    ask?(request: FastifyRequest): Promise<Question | null>;
  }
  interface FastifyRequest {
    answer: Answer | null;
  }
}

/** Fields that a confirmation adds to those of the form. No form has fields with these names. */
const SURE = 'confirmation-sure';
const CODE = 'confirmation-code';

/**
 * Asks, before a form is done, what it has to ask (`config.ask`), and for a second factor where the change needs a
 * recent one. The page that asks repeats everything that was sent, so that the answer does it: nothing has to be
 * typed again.
 */
export function registerConfirmation(app: FastifyInstance, deps: PanelDependencies): void {
  app.decorateRequest('answer', null);
  // Before validation, which refuses unknown fields.
  app.addHook('preValidation', async request => {
    request.answer = takeAnswer(request.body);
  });
  app.addHook('preHandler', async (request, reply) => {
    const page = await findPage(request, reply, deps);
    if (page !== null) return reply.send(page);
  });
}

/** Takes the fields of a confirmation out of a form. */
function takeAnswer(body: unknown): Answer {
  if (typeof body !== 'object' || body === null) return { isSure: false, code: undefined };
  return { isSure: takeField(body, SURE) === 'yes', code: takeField(body, CODE) };
}

function takeField(form: object, name: string): string | undefined {
  const value: unknown = Reflect.get(form, name);
  Reflect.deleteProperty(form, name);
  return typeof value === 'string' ? value : undefined;
}

/** The page that asks; null for a form that can be done. */
async function findPage(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PanelDependencies,
): Promise<PanelPage | null> {
  const { isSure, code } = request.answer ?? { isSure: false, code: undefined };
  const { needsFactor } = visitOf(request);
  const ask = async () => (await request.routeOptions.config.ask?.(request)) ?? null;
  const question = isSure ? null : await ask();
  if (question !== null) return confirmationPage(request, question, null);
  if (!needsFactor) return null;
  if (code === undefined) return confirmationPage(request, await ask(), null);
  try {
    await takeFactor(request, reply, code, deps);
    return null;
  } catch (error) {
    const fault = faultOf(error, request);
    return confirmationPage(request, await ask(), { ...fault, field: CODE });
  }
}

/** @throws WrongProof, SecondFactorClosed, SessionEnded; ApiError E9001 for too many attempts. */
async function takeFactor(
  request: FastifyRequest,
  reply: FastifyReply,
  code: string,
  deps: PanelDependencies,
): Promise<void> {
  const { session, person } = sessionOf(request);
  if (person.is_demo) {
    deps.cookies.setSession(reply, await confirmDemo(deps, session));
    return;
  }
  await deps.limits.countSignIn(request);
  await confirm(deps, proverOf(request), code);
}

function confirmationPage(
  request: FastifyRequest,
  question: Question | null,
  fault: FormFault | null,
): PanelPage {
  const words = texts(request);
  const { code: codeTexts, confirmation } = words.signIn;
  const { needsFactor } = visitOf(request);
  const { basePath } = request;
  if (needsFactor) logRefusal(request, 'factor-needed');
  const isMultipart = request.headers['content-type']?.startsWith('multipart/') === true;
  return {
    title: question?.title ?? confirmation.title,
    fault,
    content: html`${question?.content}
<form method="post" action="${basePath}${request.url}" class="stack"${isMultipart && html` enctype="multipart/form-data"`}>
${renderHidden({ ...Object(request.body), ...question?.fields })}${question !== null && html`<input type="hidden" name="${SURE}" value="yes">`}
${needsFactor && renderFactorField(words, sessionOf(request).person.is_demo, fault)}
<button${question !== null && html` class="danger"`}>${question?.submit ?? codeTexts.submit}</button>
</form>
${question !== null && html`<p><a href="${basePath}${question.back}">${confirmation.back}</a></p>`}`,
  };
}

function renderFactorField(
  { signIn: { code, confirmation } }: PanelTexts,
  isDemo: boolean,
  fault: FormFault | null,
): Html {
  if (isDemo) return html`<p>${confirmation.demo}</p><input type="hidden" name="${CODE}" value="">`;
  return html`<p>${confirmation.lead}</p>
${renderField({ name: CODE, label: code.label, hint: code.hint, autocomplete: 'one-time-code', maxlength: 40 }, fault)}`;
}

/** Everything that a form is sent with. */
function renderHidden(body: Readonly<Record<string, unknown>>): Html[] {
  return Object.entries(body).flatMap(([name, value]) =>
    [value]
      .flat()
      .map(each => html`<input type="hidden" name="${name}" value="${each as string}">`),
  );
}
