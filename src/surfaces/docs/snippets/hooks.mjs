import { createServer } from 'node:http';
import { verifyWebhook, WebhookVerificationError } from 'external-payments-client';

const BODY_MAXIMUM = 1_000_000;
const secret = process.env.WEBHOOK_SECRET;

async function receive(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > BODY_MAXIMUM) return 413;
  }
  try {
    // The bytes as received, before anything parses them.
    const body = Buffer.concat(chunks);
    const event = verifyWebhook({ headers: request.headers, body, secret });
    console.log(event.id, event.type, event.data.id); // act once on each event.id
    return 204;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return 400;
    throw error;
  }
}

createServer((request, response) => {
  receive(request)
    .catch(error => {
      console.error(error);
      return 500;
    })
    .then(status => response.writeHead(status, { connection: 'close' }).end());
}).listen(8080, '127.0.0.1');
