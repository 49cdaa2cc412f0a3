import { type Static, Type } from '@sinclair/typebox';
import {
  checkAddress,
  proposeAddress,
  readDelay,
  type WantedAddress,
} from '#accounts/address-changes.ts';
import { AddressTaken } from '#accounts/address-holders.ts';
import { ADDRESSES_MAXIMUM } from '#accounts/allowed-addresses.ts';
import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { reportRefusedAddress } from '#accounts/report-refused-address.ts';
import { type GivenWallet, readWallet, viewGiven } from '#accounts/wallets.ts';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { StringEnum, Uuid } from '#schemas/scalars.ts';
import { html } from '../../pages/html.ts';
import { membershipOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import { faultOf } from '../kit/failures.ts';
import { type FormFault, FormRefused } from '../kit/form.ts';
import { registerForm } from '../kit/form-route.ts';
import { renderFactor } from '../kit/fresh-factor.ts';
import { ownPath, ownUrl } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';
import {
  ADDRESSES,
  ADDRESSES_PATH,
  type NetworkRequest,
  networkPlace,
  networkParams as params,
  requirePlace,
} from './address-pages.ts';
import { networkPage } from './address-views.ts';
import { renderComparison, viewPresent } from './change-views.ts';
import { isAtOnce, renderDelay } from './delay.ts';

const ReviewForm = Type.Object({
  branch: Uuid('ID of the branch.'),
  address: Type.String(),
  kind: StringEnum(['address.set', 'address.add'], 'Whether it replaces what is there.'),
  /**
   * Extended public key or descriptor of a wallet, of which the address is the next unused one. Between review and
   * proposal it is kept by the form alone, as the address is: in a hidden field, on a page that is never cached. So
   * nothing of it is stored that nobody proposed, and nothing has to be cleaned up.
   */
  key: Type.Optional(Type.String()),
});
const ProposeForm = Type.Object({
  ...ReviewForm.properties,
  /** The addresses that the new one was compared with. */
  seen: Type.Array(Type.String(), { maxItems: ADDRESSES_MAXIMUM }),
  code: Type.String({ default: '' }),
});

type ReviewRequest = NetworkRequest & { body: Static<typeof ReviewForm> };

/** A new address of a branch on a network: first compared with the present ones, then proposed. */
export function registerProposal(app: TypedApp, deps: PanelDependencies): void {
  const { addressDelayMs, clock, db, keyring, limits } = deps;
  const rule = { for: 'merchant', permission: 'money.change' } as const;
  /** Wallets by the request that shows them: after a wrong code the page needs the same again. */
  const read = new WeakMap<ReviewRequest, GivenWallet>();

  registerForm(app, deps, `${ADDRESSES_PATH}/:blockchainId/review`, {
    rule,
    params,
    body: ReviewForm,
    change: check,
    again: refuse,
    done: (request, sent) => compare(request, sent, null),
  });

  registerForm(app, deps, `${ADDRESSES_PATH}/:blockchainId/propose`, {
    rule,
    params,
    body: ProposeForm,
    check: async request => {
      await requirePlace(request, deps);
      return want(request);
    },
    code: request => request.body.code,
    change: (request, operator, wanted) =>
      proposeAddress(operator, wanted, request.body.seen, addressDelayMs),
    again: async (request, fault, error) => {
      // Looking for the address once more would take seconds, and find it as little.
      if (error instanceof AddressTaken || isRefused(error, 'wallet-invalid')) {
        return refuse(request, fault, error);
      }
      try {
        return await compare(request, await check(request), fault);
      } catch (refusal) {
        return refuse(request, faultOf(refusal, request), refusal);
      }
    },
    done: async (request, { id, outcome, address }) => {
      const { changes, settings } = texts(request);
      if (outcome === null) {
        return redirectTo(ownPath(request, `/settings/changes/${id}`), changes.done.proposed);
      }
      const { name, path } = await requirePlace(request, deps);
      const { done, wallet } = settings.addresses;
      const { key, kind } = request.body;
      const isWallet = key !== undefined;
      return redirectTo(path, isWallet ? wallet.done(name) : done[kind](name, address ?? ''));
    },
  });

  /** @throws OperationRefused for an address that cannot be proposed; ApiError E3001. */
  async function check(request: ReviewRequest) {
    const place = await requirePlace(request, deps);
    const wanted = await want(request);
    return { ...place, wanted, checked: await checkAddress(db, wanted, new Date(clock())) };
  }

  /** @throws OperationRefused for a wallet that cannot be read, FormRefused for too many of them. */
  async function want(request: ReviewRequest): Promise<WantedAddress> {
    const { branch: branchId, kind, address: text, key } = request.body;
    const { accountId: merchantId } = membershipOf(request);
    const { blockchainId } = request.params;
    const wanted = { merchantId, branchId, kind, blockchainId, text };
    if (key === undefined) return wanted;
    let given = read.get(request);
    if (given === undefined) {
      await limits.countWallet(request).catch(error => {
        if (!(error instanceof ApiError && error.errorCode === 'E9001')) throw error;
        throw new FormRefused('key', texts(request).settings.addresses.wallet.tooMany);
      });
      given = await readWallet(db, merchantId, blockchainId, { key, next: text });
      read.set(request, given);
    }
    return { ...wanted, wallet: { given, keyring } };
  }

  /** The new address beside the present ones, and the form that proposes it with a code. */
  async function compare(
    request: ReviewRequest,
    { network, branch, name, wanted, checked }: Awaited<ReturnType<typeof check>>,
    fault: FormFault | null,
  ): Promise<PanelPage> {
    const words = texts(request);
    const { addresses: own } = words.settings;
    const { kind, key } = request.body;
    const { address, present } = checked;
    const wallets = {
      before: await viewPresent(deps, branch.id, network.id),
      after: wanted.wallet === undefined ? null : viewGiven(wanted.wallet.given),
    };
    const comparison = { kind, former: present, address, branchName: branch.name, wallets };
    const { reviewTitle, reviewLead } = key === undefined ? own : own.wallet;
    const delay = await readDelay(db, membershipOf(request).accountId, addressDelayMs);
    return {
      title: reviewTitle(name),
      lead: reviewLead,
      fault,
      content: html`${renderComparison(words, comparison, [])}
<p>${renderDelay(words, delay)}</p>
<form method="post" action="${ownUrl(request, ADDRESSES)}/${network.id}/propose" class="stack">
<input type="hidden" name="branch" value="${branch.id}"><input type="hidden" name="kind" value="${kind}">
<input type="hidden" name="address" value="${address}">${key !== undefined && html`<input type="hidden" name="key" value="${key}">`}${present.map(
        seen => html`<input type="hidden" name="seen" value="${seen}">`,
      )}
${renderFactor(request, fault)}
<button>${isAtOnce(delay) ? words.changes.setNow : words.changes.propose}</button>
</form>
<p><a href="${ownUrl(request, networkPlace(branch, network.id))}">${own.back}</a></p>`,
    };
  }

  /** The first form again. Reports an address that another merchant has to the operator. */
  async function refuse(
    request: ReviewRequest,
    fault: FormFault,
    error: unknown,
  ): Promise<PanelPage> {
    if (error instanceof AddressTaken) await reportRefusedAddress(deps, error);
    const { branch } = await requirePlace(request, deps);
    const isKey = isRefused(error, 'wallet-invalid') || isRefused(error, 'wallet-taken');
    const field = request.body.key === undefined ? 'address' : isKey ? 'key' : 'next';
    const shown = { ...fault, field: fault.field ?? field };
    return networkPage(request, deps, branch, shown, request.body);
  }
}

function isRefused(error: unknown, code: string): boolean {
  return error instanceof OperationRefused && error.refusal.code === code;
}
