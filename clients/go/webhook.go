package externalpayments

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	defaultTolerance = 5 * time.Minute
	secretPrefix     = "whsec_"
	signatureVersion = "v1,"
	// signaturesMaximum is more than a rotation produces; any others are ignored.
	signaturesMaximum = 16
)

// WebhookFailure is the part of a webhook that is invalid.
type WebhookFailure string

// What can be invalid about a webhook: a header, the time, the signature or the body.
const (
	FailureID        WebhookFailure = "webhook-id"
	FailureTimestamp WebhookFailure = "webhook-timestamp"
	FailureTooOld    WebhookFailure = "timestamp-too-old"
	FailureTooNew    WebhookFailure = "timestamp-too-new"
	FailureSignature WebhookFailure = "webhook-signature"
	FailureMismatch  WebhookFailure = "signature-mismatch"
	FailureBody      WebhookFailure = "body"
)

// WebhookError means that the webhook must not be processed: respond with 400 and do nothing.
type WebhookError struct {
	Failure WebhookFailure
	Message string
}

func (e *WebhookError) Error() string { return e.Message }

// Event is the body of a webhook.
type Event struct {
	// ID is the same in every delivery of the event: store it to act on the event only once.
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	CreatedAt time.Time `json:"createdAt"`
	// Data is the payment as it was at the event, unless the type says otherwise.
	Data json.RawMessage `json:"data"`
}

// Payment reads Data as a payment.
func (e *Event) Payment() (*Payment, error) {
	payment := new(Payment)
	if err := json.Unmarshal(e.Data, payment); err != nil {
		return nil, err
	}
	return payment, nil
}

// WebhookVerifier verifies webhooks (Standard Webhooks).
type WebhookVerifier struct {
	// Secrets are whsec_…, as shown at their creation, of which one has to match.
	Secrets []string `json:"-"`
	// Tolerance is the largest difference between the webhook's timestamp and now; 5 minutes by default.
	Tolerance time.Duration
	// Now is time.Now by default.
	Now func() time.Time
}

// String leaves out the secrets.
func (v WebhookVerifier) String() string { return "WebhookVerifier" }

// GoString leaves out the secrets.
func (v WebhookVerifier) GoString() string { return v.String() }

// Verify verifies a webhook, then parses it. The same event may be delivered more than once.
//
// The body has exactly the bytes that were received. The error is a *WebhookError when the service did not send
// it, or not within the tolerance, and another one for a missing or invalid secret.
func (v WebhookVerifier) Verify(header http.Header, body []byte) (*Event, error) {
	keys, err := v.keys()
	if err != nil {
		return nil, err
	}
	id, err := readHeader(header, FailureID)
	if err != nil {
		return nil, err
	}
	timestamp, err := readHeader(header, FailureTimestamp)
	if err != nil {
		return nil, err
	}
	signature, err := readHeader(header, FailureSignature)
	if err != nil {
		return nil, err
	}
	signatures, err := readSignatures(signature)
	if err != nil {
		return nil, err
	}
	if err := v.checkTime(timestamp); err != nil {
		return nil, err
	}
	matched := false
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		io.WriteString(mac, id+"."+timestamp+".")
		mac.Write(body)
		expected := mac.Sum(nil)
		// Compares every pair, so that the time does not depend on which one matches.
		for _, signature := range signatures {
			matched = hmac.Equal(expected, signature) || matched
		}
	}
	if !matched {
		return nil, &WebhookError{FailureMismatch, "no signature matches: the secret is wrong, or the body is not exactly the bytes received"}
	}
	event := new(Event)
	if json.Unmarshal(body, event) != nil {
		return nil, &WebhookError{FailureBody, "the body is signed, but is no JSON of an event"}
	}
	return event, nil
}

func (v WebhookVerifier) keys() ([][]byte, error) {
	keys := make([][]byte, 0, len(v.Secrets))
	for _, secret := range v.Secrets {
		key, err := decode(strings.TrimPrefix(secret, secretPrefix))
		// An empty key would let anybody sign.
		if err != nil || len(key) == 0 {
			return nil, errors.New("a webhook secret is " + secretPrefix + " and base64")
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("a webhook verifier needs a secret")
	}
	return keys, nil
}

// decode takes base64 with its padding or without. DecodeString skips line ends, which neither a secret nor a
// signature has.
func decode(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, base64.CorruptInputError(0)
	}
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
}

func readHeader(header http.Header, name WebhookFailure) (string, error) {
	if value := header.Get(string(name)); value != "" {
		return value, nil
	}
	return "", &WebhookError{name, fmt.Sprintf("the header %s is missing", name)}
}

func readSignatures(header string) ([][]byte, error) {
	var signatures [][]byte
	for index, part := range strings.Split(header, " ") {
		if index == signaturesMaximum {
			break
		}
		if !strings.HasPrefix(part, signatureVersion) {
			continue
		}
		signature, err := decode(strings.TrimPrefix(part, signatureVersion))
		if err == nil && len(signature) == sha256.Size {
			signatures = append(signatures, signature)
		}
	}
	if len(signatures) == 0 {
		return nil, &WebhookError{FailureSignature, "the header webhook-signature has no signature of version v1"}
	}
	return signatures, nil
}

func (v WebhookVerifier) checkTime(timestamp string) error {
	if len(timestamp) > 12 || strings.Trim(timestamp, "0123456789") != "" {
		return &WebhookError{FailureTimestamp, "the header webhook-timestamp is not an integer of Unix seconds"}
	}
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return err
	}
	now, tolerance := time.Now, v.Tolerance
	if v.Now != nil {
		now = v.Now
	}
	if tolerance == 0 {
		tolerance = defaultTolerance
	}
	age := now().Unix() - sent
	allowed := int64(tolerance / time.Second)
	switch {
	case age > allowed:
		return &WebhookError{FailureTooOld, fmt.Sprintf("it was sent %d s before now, but %d s are allowed", age, allowed)}
	case -age > allowed:
		return &WebhookError{FailureTooNew, fmt.Sprintf("it was sent %d s after now, but %d s are allowed", -age, allowed)}
	}
	return nil
}
