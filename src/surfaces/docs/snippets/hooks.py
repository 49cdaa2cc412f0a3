import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from external_payments import WebhookVerificationError, verify_webhook

BODY_MAXIMUM = 1_000_000
SECRET = os.environ["WEBHOOK_SECRET"]


class Hooks(BaseHTTPRequestHandler):
    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > BODY_MAXIMUM:
            return self.send_error(413)
        # The bytes as received, before anything parses them.
        body = self.rfile.read(int(length))
        try:
            event = verify_webhook(body, self.headers, SECRET)
        except WebhookVerificationError as error:
            return self.send_error(400, str(error))
        # Act once on each id.
        print(event["id"], event["type"], event["data"]["id"], flush=True)
        self.send_response(204)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", 8080), Hooks).serve_forever()
