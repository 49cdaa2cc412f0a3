#!/bin/sh
# Needs MP_URL, MP_KEY_ID, MP_SECRET and MP_PASSPHRASE in the environment.
set -eu

# call METHOD PATH [BODY] [HEADER]
call() {
  timestamp=$(date +%s)
  nonce=$(openssl rand -hex 16)
  signature=$(printf '%s\n%s\n%s\n%s\n%s' "$timestamp" "$nonce" "$1" "$2" "${3-}" |
    openssl dgst -sha256 -hmac "$MP_SECRET" | sed 's/.* //')
  curl --silent --show-error --fail-with-body --max-time 30 --request "$1" "$MP_URL$2" \
    --header "X-MP-KEY-ID: $MP_KEY_ID" \
    --header "X-MP-PASSPHRASE: $MP_PASSPHRASE" \
    --header "X-MP-TIMESTAMP: $timestamp" \
    --header "X-MP-NONCE: $nonce" \
    --header "X-MP-SIGNATURE: $signature" \
    ${3:+--header 'Content-Type: application/json' --data-binary "$3"} \
    ${4:+--header "$4"}
}

created=$(call POST /external/v1/payments/prompt \
  '{"amount":5000,"customerReferenceId":"order-1001"}' 'Idempotency-Key: order-1001') || {
  printf '%s\n' "$created" >&2
  exit 1
}
printf '%s\n' "$created"

id=$(printf '%s' "$created" | sed 's/.*"id":"\([^"]*\)".*/\1/')
call GET "/external/v1/payments/$id"
