// Needs MP_URL, MP_KEY_ID, MP_SECRET and MP_PASSPHRASE in the environment.
import { createHmac, randomUUID } from 'node:crypto';

const { MP_URL, MP_KEY_ID, MP_SECRET, MP_PASSPHRASE } = process.env;

async function call(method, path, body = '', headers = {}) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = randomUUID();
  const canonical = [timestamp, nonce, method, path, body].join('\n');
  const response = await fetch(MP_URL + path, {
    method,
    headers: {
      'X-MP-KEY-ID': MP_KEY_ID,
      'X-MP-PASSPHRASE': MP_PASSPHRASE,
      'X-MP-TIMESTAMP': timestamp,
      'X-MP-NONCE': nonce,
      'X-MP-SIGNATURE': createHmac('sha256', MP_SECRET).update(canonical).digest('hex'),
      ...(body && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    body: body || undefined,
    signal: AbortSignal.timeout(30_000),
  });
  const content = await response.json();
  if (!response.ok) throw new Error(`${content.error.errorCode}: ${content.error.message}`);
  return content;
}

const { prompt, checkoutUrl } = await call(
  'POST',
  '/external/v1/payments/prompt',
  JSON.stringify({ amount: 5000, customerReferenceId: 'order-1001' }),
  { 'Idempotency-Key': 'order-1001' },
);
console.log('Send the customer to', checkoutUrl);

const payment = await call('GET', `/external/v1/payments/${prompt.id}`);
console.log(payment.id, payment.status);
