import { createServer } from 'node:http';
import { verifyWebhook, WebhookVerificationError } from 'external-payments-client';

const BODY_MAXIMUM = 1_000_000;

async function receive(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > BODY_MAXIMUM) return 413;
  }
  try {
    const secret = process.env.WEBHOOK_SECRET;
    const { headers } = request;
    const event = verifyWebhook({ headers, body: Buffer.concat(chunks), secret });
    console.log(event.id, event.type, event.data.id); // act once on each event.id
    return 204;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return 400;
    throw error;
  }
}

const server = createServer((request, response) => {
  receive(request)
    .catch(error => {
      console.error(error);
      return 500;
    })
    .then(status => response.writeHead(status, { connection: 'close' }).end());
});
server.listen(Number(process.env.PORT ?? 8080), () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
