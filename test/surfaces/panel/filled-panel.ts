import { proposeMainBranch } from '#accounts/address-changes.ts';
import { createBranch } from '#accounts/branches.ts';
import { createPartnerMember } from '#accounts/partners.ts';
import { inviteUser } from '#accounts/people/invitations.ts';
import { createUser } from '#accounts/users.ts';
import { newToken } from '#crypto/token.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { addMerchant, addPartner, operatorOf } from '../../helpers/accounts.ts';
import type { TestApp } from '../../helpers/app.ts';
import { openCheckout } from '../../helpers/checkout.ts';
import { addDelivery, addEndpoint } from '../../helpers/deliveries.ts';
import { addRequest } from '../../helpers/logged-requests.ts';
import { addMerchantUser, addPartnerUser, addPerson, type Visitor } from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';

/** An address that only this merchant has, so that deposits there are in its inbox. */
export const OWN_ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

/** A merchant, and a partner of another merchant, with one or two objects of each kind that has pages. */
export interface FilledPanel {
  readonly merchantId: string;
  readonly partnerId: string;
  /** Everybody who may visit, by their role; those whose session is complete have just entered a second factor. */
  readonly people: Readonly<Record<string, { visitor: Visitor; isComplete: boolean } | undefined>>;
  /** IDs by their names in paths: the merchant's before the partner's. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
}

/** Fills a service, so that every page of the panel has something to show. */
export async function fillPanel(service: TestApp): Promise<FilledPanel> {
  const shop = await addMerchant(service, { addresses: { 'eth-test': OWN_ADDRESS } });
  const partner = await addPartner(service);
  // From now on, changes of addresses wait.
  const paid = await addPayment(service.db, shop.merchant, {
    created_at: new Date(service.clock.now),
    paid_at: new Date(service.clock.now),
    status: 'successful',
    session_status: 'completed',
  });
  const linked = await addMerchant(service, { partnerId: partner.partner.id });
  const theirs = await addPayment(service.db, linked.merchant, {
    created_at: new Date(service.clock.now),
    partner_id: partner.partner.id,
  });
  const { path, paymentId } = await openCheckout(service, shop);
  const now = new Date(service.clock.now);
  const deposit = await observeTransfer(
    service.db,
    {
      blockchainId: 'eth-test',
      transactionHash: '0x1',
      position: 0,
      address: OWN_ADDRESS,
      tokenAmount: 12_345n,
      blockHeight: null,
      blockHash: null,
      occurredAt: now,
      finality: 'final',
      source: 'simulation',
    },
    now,
  );
  const of = (visitor: Visitor, isComplete = true) => ({ visitor, isComplete });
  const [m, p] = [shop.merchant.id, partner.partner.id];
  const admin = await addMerchantUser(service, m, 'admin', { withPassword: true });
  const people: FilledPanel['people'] = {
    nobody: undefined,
    half: of(await addPerson(service), false),
    'without account': of(await addPerson(service)),
    demo: of(await addMerchantUser(service, m, 'admin', { isDemo: true })),
    admin: of(admin),
    member: of(await addMerchantUser(service, m, 'member')),
    owner: of(await addPartnerUser(service, p, 'owner')),
    developer: of(await addPartnerUser(service, p, 'developer')),
  };
  const { id: branchId } = await createBranch(operatorOf(service), {
    merchantId: m,
    name: 'Other',
    main: false,
  });
  const change = await proposeMainBranch(
    { ...operatorOf(service), personId: admin.personId },
    { merchantId: m, branchId },
    60 * 60_000,
  );
  const { endpoint } = await addEndpoint(service, m);
  const deliveryId = await addDelivery(service, paid, {
    endpointId: endpoint.id,
    log: [{ status_code: 500, response_excerpt: '<b>' }],
  });
  const token = path.split('/').at(-1) ?? '';
  const invited = await createUser(operatorOf(service), {
    merchantId: m,
    name: 'Grace',
    email: 'grace@example.com',
    role: 'member',
  });
  const link = await inviteUser(operatorOf(service), invited.id);
  const newcomer = await createPartnerMember(operatorOf(service), {
    partnerId: p,
    name: 'Hopper',
    email: 'hopper@example.com',
    role: 'developer',
  });
  const ids: FilledPanel['ids'] = {
    merchantId: [linked.merchant.id],
    paymentId: [paymentId, theirs.id],
    depositId: [deposit.id],
    blockchainId: ['eth-test', 'btc'],
    branchId: [branchId],
    changeId: [change.id],
    endpointId: [endpoint.id],
    deliveryId: [deliveryId],
    memberId: [invited.id, newcomer.id],
    keyId: [shop.keyId, partner.keyId],
    requestId: await Promise.all(
      [shop, partner].map(({ keyId }) => addRequest(service, { keyId, errorCode: 'E2007' })),
    ),
    token: [token, link.token, newToken()],
  };
  return { merchantId: m, partnerId: p, people, ids };
}
