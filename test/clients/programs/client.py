"""Does with the library what it reads, one JSON document a line, and prints what came of it."""

import asyncio
import json
import sys
import time
from datetime import datetime

from external_payments import (
    ApiRequest,
    AsyncPaymentsClient,
    Credentials,
    PaymentsApiError,
    PaymentsClient,
    PaymentsConnectionError,
    WebhookVerificationError,
    signing_headers,
    verify_webhook,
)

IS_ASYNC = "--async" in sys.argv


def sign(given):
    return {
        "headers": signing_headers(
            Credentials(given["keyId"], given["secret"], given["passphrase"]),
            given["method"],
            given["path"],
            given["body"].encode(),
            timestamp=given["timestamp"],
            nonce=given["nonce"],
        )
    }


def verify(given):
    try:
        body = given["body"]
        event = verify_webhook(
            json.loads(body) if given.get("isParsed") else body.encode(),
            given["headers"],
            given["secrets"],
            tolerance=given["toleranceSeconds"],
            now=lambda: given["now"],
        )
    except WebhookVerificationError as error:
        return {"valid": False, "failure": error.failure}
    except ValueError:
        return {"valid": False, "failure": "secret"}
    return {"valid": True, "id": event["id"]}


def show(given):
    key = [given["keyId"], given["secret"], given["passphrase"]]
    client = (AsyncPaymentsClient if IS_ASYNC else PaymentsClient)(given["url"], *key)
    return {"printed": f"{Credentials(*key)!r} {Credentials(*key)} {client!r} {client}"}


def call(given):
    pauses = []

    def pause(seconds):
        pauses.append(seconds * 1000)

    async def pause_async(seconds):
        pause(seconds)

    try:
        kind = AsyncPaymentsClient if IS_ASYNC else PaymentsClient
        client = kind(
            given["url"],
            given["keyId"],
            given["secret"],
            given["passphrase"],
            timeout=given["timeoutMs"] / 1000,
            max_attempts=given["maxAttempts"],
            # Pauses take no time, but advance the clock.
            now=lambda: time.time() + sum(pauses) / 1000,
            sleep=pause_async if IS_ASYNC else pause,
        )
        value = use(client, given["call"], given["arguments"])
        result = asyncio.run(value) if asyncio.iscoroutine(value) else value
        return {"result": result, "pauses": pauses}
    except PaymentsApiError as error:
        return {
            "error": {
                "kind": "api",
                "status": error.status,
                "type": error.type,
                "code": error.code,
                "errorCode": error.error_code,
                "message": str(error),
                "param": error.param,
                "requestId": error.request_id,
                "docUrl": error.doc_url,
                "userSafeMessage": error.user_safe_message,
                "retryable": error.retryable,
                "retryAfterSeconds": error.retry_after,
            },
            "pauses": pauses,
        }
    except PaymentsConnectionError as error:
        return {
            "error": {"kind": "connection", "attempts": error.attempts, "message": str(error)},
            "pauses": pauses,
        }
    except ValueError as error:
        return {"error": {"kind": "argument", "message": str(error)}, "pauses": pauses}


def use(client, name, arguments):
    if name == "create":
        return client.create_payment(
            arguments["payment"], idempotency_key=arguments.get("idempotencyKey")
        )
    if name == "get":
        return client.get_payment(arguments["id"])
    if name == "list":
        return client.list_payments(arguments["query"])
    if name == "all":
        found = client.payments(arguments["query"])
        return collect(found) if IS_ASYNC else list(found)
    if name == "event":
        return client.get_event(arguments["id"])
    if name == "listEvents":
        return client.list_events(arguments["query"])
    if name == "events":
        after = arguments.get("after")
        if "since" in arguments:
            after = datetime.fromisoformat(arguments["since"].replace("Z", "+00:00"))
        found = client.events(arguments["query"], after=after)
        return collect(found) if IS_ASYNC else list(found)
    if name == "blockchains":
        return client.active_blockchains()
    if name == "simulate":
        return client.simulate_payment(
            arguments["id"], arguments["case"], blockchain_id=arguments.get("blockchainId")
        )
    if name == "advance":
        return client.advance_clock(arguments["id"], seconds=arguments["seconds"])
    request = ApiRequest(
        arguments["method"],
        arguments["path"],
        arguments["body"].encode() if "body" in arguments else None,
        arguments.get("idempotencyKey"),
    )
    return status_of_async(client, request) if IS_ASYNC else {"status": client.request(request).status}


async def collect(found):
    return [each async for each in found]


async def status_of_async(client, request):
    return {"status": (await client.request(request)).status}


KINDS = {"request": sign, "webhook": verify, "print": show, "call": call}
for line in sys.stdin:
    given = json.loads(line)
    print(json.dumps(KINDS[given["kind"]](given)), flush=True)
