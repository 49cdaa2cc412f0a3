import { afterAll, beforeAll, expect, test } from 'vitest';
import { addMerchant, addPartner, type MerchantWithKey } from '../helpers/accounts.ts';
import { createPrompt } from '../helpers/prompts.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

interface Shown {
  checkoutUrl: string | null;
  checkoutUrlNote?: string;
}

let service: Operated;
let shop: MerchantWithKey;
beforeAll(async () => {
  service = await startOperated();
  shop = await addMerchant(service);
});
afterAll(() => service.close());

const show = (id: string) => service.ask<Shown>('payment', 'show', id);
const keyed = (key: string) => ({ 'idempotency-key': key });

test('the checkout URL is shown where the response to the creation is kept', async () => {
  const [partner, us] = [
    await addPartner(service),
    await addMerchant(service, { kind: 'us', addresses: {} }),
  ];
  const { merchant } = await addMerchant(service, { partnerId: partner.partner.id });
  const body = { amount: 5000 };
  const created = [
    await createPrompt(service, shop, body, keyed('one')),
    await createPrompt(service, shop, body, keyed('two')),
    await createPrompt(service, us, body, keyed('one')),
    await createPrompt(service, partner, { ...body, merchantId: merchant.id }, keyed('one')),
  ];
  for (const { prompt, checkoutUrl } of created) {
    const shown = await show(prompt.id);
    expect(shown.checkoutUrl).toBe(checkoutUrl);
    expect(shown).not.toHaveProperty('checkoutUrlNote');
  }
  const [{ prompt, checkoutUrl } = { prompt: { id: '' }, checkoutUrl: '' }] = created;
  const { out } = await mpHere(['payment', 'show', prompt.id], service.env);
  expect(out).toMatch(new RegExp(`\ncheckoutUrl +${checkoutUrl}\n`));
});

test('where it cannot be known, the reason is shown', async () => {
  const { prompt: unkeyed } = await createPrompt(service, shop, { amount: 5000 });
  const { prompt: kept } = await createPrompt(service, shop, { amount: 5000 }, keyed('gone'));
  // As clean-up does after 24 hours.
  await service.db.deleteFrom('idempotency_keys').where('key', '=', 'gone').execute();
  for (const { id } of [unkeyed, kept]) {
    expect(await show(id)).toMatchObject({
      checkoutUrl: null,
      checkoutUrlNote:
        'Not known: it is in the response to the creation, which is kept for 24 hours and only under an idempotency key.',
    });
  }
});

test('a response under a master key that is gone does not keep a payment from being shown', async () => {
  const { prompt } = await createPrompt(service, shop, { amount: 5000 }, keyed('sealed'));
  await service.db
    .updateTable('idempotency_keys')
    .set({ master_key_version: 1 })
    .where('key', '=', 'sealed')
    .execute();
  expect(await show(prompt.id)).toMatchObject({ id: prompt.id, checkoutUrl: null });
});
