import { Type } from '@sinclair/typebox';
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import { LOGO_BYTES_MAXIMUM } from '#accounts/logo.ts';
import { requireMerchant, setMerchant } from '#accounts/merchants.ts';
import { registerMultipartForm } from '#http/multipart-form.ts';
import { BodyTooLarge } from '#http/raw-body.ts';
import type { PagePolicy } from '#http/security-headers.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { StringEnum } from '#schemas/scalars.ts';
import { findMerchantLogo } from '#storage/repositories/accounts/merchant-logos.ts';
import { listNetworks } from '#storage/repositories/chains/networks.ts';
import { registerAccents } from '../../checkout/page/accent.ts';
import { FOR_PERSON, membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { type FormFault, FormRefused } from '../kit/form.ts';
import { registerForm } from '../kit/form-route.ts';
import { ownPath } from '../kit/navigation.ts';
import { redirectTo, WITH_FRAME } from '../kit/pages.ts';
import { EXAMPLE_STAGES, type ExampleStage, FIRST_STAGE } from './example.ts';
import { type AppearanceFields, AppearanceForm, fieldsOf, readAppearance } from './form.ts';
import { CHECKOUT_FILES, PREVIEW_POLICY, renderPreview } from './preview.ts';
import { appearancePage } from './views.ts';

const PATH = '/merchants/:accountId/settings/appearance';

/**
 * Size of the largest form, in bytes. It is well above LOGO_BYTES_MAXIMUM, so that most pictures that are too large
 * for a logo can be refused without losing what was typed beside them: also when they come back from a confirmation,
 * in base64.
 */
const FORM_LIMIT_BYTES = 8 * LOGO_BYTES_MAXIMUM;

const stage = StringEnum(EXAMPLE_STAGES, 'Which page of the checkout is shown.');
const PreviewQuery = Type.Object({ stage: Type.Optional(stage) });
const PreviewForm = Type.Object({ ...AppearanceForm.properties, stage });

/** What payers see of a merchant, with examples of the pages that show it. */
export function registerAppearance(app: TypedApp, deps: PanelDependencies): void {
  const { clock, db, reports } = deps;
  const tooLarge = (request: FastifyRequest) => {
    const { faults } = texts(request).appearance;
    return { field: 'logo', message: faults.logoTooLarge(LOGO_BYTES_MAXIMUM) };
  };

  const showing = withPolicy(withPermission('merchant', 'settings.read'), WITH_FRAME);
  app.get(PATH, showing, request => appearancePage(request, deps, null, null));

  const looking = withPermission('merchant', 'settings.read', { querystring: PreviewQuery });
  app.get(`${PATH}/preview`, withPolicy(looking, PREVIEW_POLICY), (request, reply) =>
    sendPreview(request, reply, request.query.stage ?? FIRST_STAGE),
  );

  app.register(async files => registerAccents(files, FOR_PERSON.config), {
    prefix: CHECKOUT_FILES,
  });

  app.register(async (forms: TypedApp) => {
    registerMultipartForm(forms, FORM_LIMIT_BYTES);

    const again = unlessTooLarge(request => appearancePage(request, deps, null, tooLarge(request)));
    forms.setErrorHandler(again);
    registerForm(forms, deps, PATH, {
      rule: { for: 'merchant', permission: 'appearance.set' },
      policy: WITH_FRAME,
      body: AppearanceForm,
      change: async (request, operator) => {
        const { accountId } = membershipOf(request);
        const saved = await requireMerchant(db, accountId);
        const { change, faults } = readAppearance(texts(request), request.body, saved);
        const [fault] = faults;
        if (fault !== undefined) throw new FormRefused(fault.field, fault.message);
        const isChanged = Object.values(change).some(value => value !== undefined);
        if (isChanged) await setMerchant(operator, accountId, change);
        return isChanged;
      },
      again: (request, fault) => appearancePage(request, deps, request.body, fault),
      done: (request, isChanged) => {
        const { saved, unchanged } = texts(request).appearance;
        return redirectTo(ownPath(request, '/settings/appearance'), isChanged ? saved : unchanged);
      },
    });

    const trying = withPermission('merchant', 'settings.read', { body: PreviewForm });
    forms.post(
      `${PATH}/preview`,
      {
        ...withPolicy(trying, PREVIEW_POLICY),
        errorHandler: unlessTooLarge((request, reply) =>
          sendPreview(request, reply, FIRST_STAGE, null, [tooLarge(request)]),
        ),
      },
      (request, reply) => sendPreview(request, reply, request.body.stage, request.body),
    );
  });

  /** @param fields What was typed; null for what is saved. */
  async function sendPreview(
    request: FastifyRequest,
    reply: FastifyReply,
    stage: ExampleStage,
    fields: AppearanceFields | null = null,
    further: readonly FormFault[] = [],
  ): Promise<FastifyReply> {
    const words = texts(request);
    const { accountId } = membershipOf(request);
    const merchant = await requireMerchant(db, accountId);
    const { change, faults } = readAppearance(words, fields ?? fieldsOf(merchant), merchant);
    const { supportContact, accentColor, showsNote, logo } = change;
    const { name, support_contact: contact, accent_color: color, shows_note: shows } = merchant;
    const page = renderPreview(words, {
      isTest: merchant.environment === 'test',
      stage,
      name,
      basePath: request.basePath,
      now: new Date(clock()),
      faults: [...faults, ...further],
      supportContact: supportContact === undefined ? contact : supportContact,
      accentColor: accentColor === undefined ? color : accentColor,
      showsNote: showsNote ?? shows,
      logo: logo === undefined ? ((await findMerchantLogo(db, accountId)) ?? null) : logo,
      networks: await listNetworks(reports),
    });
    return reply.type('text/html; charset=utf-8').send(page);
  }
}

/** A route whose page has a policy of its own. */
function withPolicy<R extends { readonly config: FastifyContextConfig }>(
  route: R,
  policy: PagePolicy,
) {
  return { ...route, config: { ...route.config, policy } };
}

/** Handles a form that is too large to be read, and leaves all other failures to the panel's handler. */
function unlessTooLarge(send: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    if (!(error instanceof BodyTooLarge)) throw error;
    return send(request, reply);
  };
}
