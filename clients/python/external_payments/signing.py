"""How requests are signed."""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Credentials:
    """An API key, as shown at its creation."""

    key_id: str
    secret: str = field(repr=False)
    passphrase: str = field(repr=False)

    def __post_init__(self) -> None:
        for part in (self.key_id, self.secret, self.passphrase):
            # As the end of a line from a file is, which an HTTP library would repeat in its error.
            if not re.fullmatch(r"[\x21-\x7e]+", part):
                raise ValueError("A key ID, secret and passphrase are visible ASCII without spaces")


def signing_headers(
    credentials: Credentials,
    method: str,
    path: str,
    body: bytes = b"",
    *,
    timestamp: int,
    nonce: str,
) -> dict[str, str]:
    """The five signing headers of a request.

    :param method: Upper-case HTTP method.
    :param path: Path with its query, exactly as sent.
    :param body: Exactly the bytes that are sent; empty without a body.
    :param timestamp: Unix seconds.
    :param nonce: 1 to 255 visible ASCII characters, new for every request, retries included.
    """
    canonical = f"{timestamp}\n{nonce}\n{method}\n{path}\n".encode() + body
    signature = hmac.new(credentials.secret.encode(), canonical, hashlib.sha256).hexdigest()
    return {
        "X-MP-KEY-ID": credentials.key_id,
        "X-MP-PASSPHRASE": credentials.passphrase,
        "X-MP-TIMESTAMP": str(timestamp),
        "X-MP-NONCE": nonce,
        "X-MP-SIGNATURE": signature,
    }
