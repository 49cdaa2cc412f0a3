import type { Static, TObject } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { OperationRefused, type Operator } from '#accounts/audit/audited-change.ts';
import { EmptyForm } from '#http/page-validation.ts';
import type { PagePolicy } from '#http/security-headers.ts';
import { operatorOf, type PanelRule } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import type { Question } from './confirmation.ts';
import { faultOf } from './failures.ts';
import { type FormFault, FormRefused } from './form.ts';
import { changeWithFactor } from './fresh-factor.ts';
import type { PageOrRedirect } from './pages.ts';

/** What a form is sent with, by its schemas. */
interface Sent<Body extends TObject, Params extends TObject, Query extends TObject> {
  Body: Static<Body>;
  Params: Static<Params>;
  Querystring: Static<Query>;
}

/** A form: who may send it, what it changes, and what is shown then. */
interface Form<
  Result,
  Body extends TObject,
  Params extends TObject,
  Query extends TObject,
  Checked,
> {
  readonly rule: PanelRule;
  /** The Content Security Policy of its pages, where it is not that of the rest of the panel. */
  readonly policy?: PagePolicy;
  /** Its fields; without any, it is a button. */
  readonly body?: Body;
  readonly params?: Params;
  readonly query?: Query;
  /**
   * What it asks before anything is changed; null where it need not ask. It may throw what `change` throws: a form that
   * is refused asks nothing.
   */
  readonly ask?: (request: FastifyRequest<Sent<Body, Params, Query>>) => Promise<Question | null>;
  /**
   * Refuses what is wrong whatever the second factor is, before a code is used up and the transaction begins.
   * @returns What `change` needs of it.
   * @throws As `change` does; ApiError E3001 for an object of others.
   */
  readonly check?: (request: FastifyRequest<Sent<Body, Params, Query>>) => Promise<Checked>;
  /** The fresh second factor that it was sent with, which is used up in the transaction of the change. */
  readonly code?: (request: FastifyRequest<Sent<Body, Params, Query>>) => string;
  /** @throws What `faultOf` knows if the form is refused: then it is shown again. */
  readonly change: (
    request: FastifyRequest<Sent<Body, Params, Query>>,
    operator: Operator,
    checked: Checked,
  ) => Promise<Result>;
  /** The page of the form, with what was sent and why it was refused. */
  readonly again: (
    request: FastifyRequest<Sent<Body, Params, Query>>,
    fault: FormFault,
    error: unknown,
  ) => PageOrRedirect | Promise<PageOrRedirect>;
  /** Leads to a page that shows the change, and says that it was made. */
  readonly done: (
    request: FastifyRequest<Sent<Body, Params, Query>>,
    result: Result,
  ) => PageOrRedirect | Promise<PageOrRedirect>;
}

/** Registers the route that a form is sent to. */
export function registerForm<
  Result,
  Body extends TObject = typeof EmptyForm,
  Params extends TObject = typeof EmptyForm,
  Query extends TObject = typeof EmptyForm,
  Checked = unknown,
>(
  app: FastifyInstance,
  deps: PanelDependencies,
  path: string,
  form: Form<Result, Body, Params, Query, Checked>,
): void {
  const { rule, policy, body = EmptyForm, params, query, ask, code } = form;
  const config = {
    panel: rule,
    ...(policy === undefined ? {} : { policy }),
    ...(ask === undefined ? {} : { ask: unlessRefused(ask) }),
  };
  const schema = {
    body,
    ...(params === undefined ? {} : { params }),
    ...(query === undefined ? {} : { querystring: query }),
  };
  app.post<Sent<Body, Params, Query>>(path, { config, schema }, async request => {
    let result: Result;
    try {
      const checked = (await form.check?.(request)) as Checked;
      result =
        code === undefined
          ? await form.change(request, operatorOf(request, deps), checked)
          : await changeWithFactor(request, deps, code(request), operator =>
              form.change(request, operator, checked),
            );
    } catch (error) {
      return form.again(request, faultOf(error, request), error);
    }
    return form.done(request, result);
  });
}

/** Asks nothing where the form is refused, since its change says why. */
function unlessRefused<Request>(ask: (request: Request) => Promise<Question | null>): typeof ask {
  return async request => {
    try {
      return await ask(request);
    } catch (error) {
      if (error instanceof FormRefused || error instanceof OperationRefused) return null;
      throw error;
    }
  };
}
