id=$(openssl rand -hex 8)
timestamp=$(date +%s)
body='{"id":"'$id'","object":"event","type":"payment_prompt.successful",
  "createdAt":"2030-01-31T12:00:00.000Z","data":{"id":"some-payment"}}'
key=$(printf '%s' "${WEBHOOK_SECRET#whsec_}" | base64 -d |
  od -An -v -tx1 | tr -d ' \n')
signature=$(printf '%s.%s.%s' "$id" "$timestamp" "$body" |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
curl -i http://127.0.0.1:8080/hooks --header "webhook-id: $id" \
  --header "webhook-timestamp: $timestamp" --header "webhook-signature: v1,$signature" \
  --header 'Content-Type: application/json' --data-binary "$body"
