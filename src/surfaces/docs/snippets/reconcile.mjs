import { readFile, writeFile } from 'node:fs/promises';
import { createClient } from 'external-payments-client';

const { MP_URL, MP_KEY_ID, MP_SECRET, MP_PASSPHRASE } = process.env;
const key = { keyId: MP_KEY_ID, secret: MP_SECRET, passphrase: MP_PASSPHRASE };
const payments = createClient({ baseUrl: MP_URL, ...key });

const after = await readFile('last-event', 'utf8').catch(() => undefined);
for await (const event of payments.events({ after })) {
  console.log(event.id, event.type, event.data.id); // act once on each event.id
  await writeFile('last-event', event.id);
}
