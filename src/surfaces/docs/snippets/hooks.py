import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY_MAXIMUM = 1_000_000
KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"), validate=True)
if not KEY:
    raise SystemExit("WEBHOOK_SECRET is empty: anybody could sign")


def is_genuine(headers, body):
    """body: the bytes as received, before they are parsed."""
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = f"{headers.get('webhook-id')}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    signatures = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(expected.encode(), each.encode()) for each in signatures)


class Hooks(BaseHTTPRequestHandler):
    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > BODY_MAXIMUM:
            return self.send_error(413)
        body = self.rfile.read(int(length))
        if not is_genuine(self.headers, body):
            return self.send_error(400)
        event = json.loads(body)
        print(event["id"], event["type"], event["data"]["id"], flush=True)  # act once on each id
        self.send_response(204)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 8080))), Hooks).serve_forever()
