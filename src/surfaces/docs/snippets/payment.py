# Needs MP_URL, MP_KEY_ID, MP_SECRET and MP_PASSPHRASE in the environment.
import hashlib
import hmac
import json
import os
import time
import urllib.error
import urllib.request
import uuid


def call(method, path, body=b"", headers={}):
    timestamp = str(int(time.time()))
    nonce = str(uuid.uuid4())
    canonical = f"{timestamp}\n{nonce}\n{method}\n{path}\n".encode() + body
    secret = os.environ["MP_SECRET"].encode()
    request = urllib.request.Request(
        os.environ["MP_URL"] + path,
        method=method,
        data=body or None,
        headers={
            "X-MP-KEY-ID": os.environ["MP_KEY_ID"],
            "X-MP-PASSPHRASE": os.environ["MP_PASSPHRASE"],
            "X-MP-TIMESTAMP": timestamp,
            "X-MP-NONCE": nonce,
            "X-MP-SIGNATURE": hmac.new(secret, canonical, hashlib.sha256).hexdigest(),
            "Content-Type": "application/json",
            **headers,
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)
    except urllib.error.HTTPError as refused:
        error = json.load(refused)["error"]
        raise SystemExit(f"{error['errorCode']}: {error['message']}")


created = call(
    "POST",
    "/external/v1/payments/prompt",
    json.dumps({"amount": 5000, "customerReferenceId": "order-1001"}, separators=(",", ":")).encode(),
    {"Idempotency-Key": "order-1001"},
)
print("Send the customer to", created["checkoutUrl"])

payment = call("GET", "/external/v1/payments/" + created["prompt"]["id"])
print(payment["id"], payment["status"])
