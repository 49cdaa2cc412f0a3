package externalpayments

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
)

// Credentials are an API key, as shown at its creation.
type Credentials struct {
	KeyID      string
	Secret     string `json:"-"`
	Passphrase string `json:"-"`
}

// RequestToSign is what a signature covers.
type RequestToSign struct {
	// Method is upper-case.
	Method string
	// Target is the path with its query, exactly as sent.
	Target string
	// Body has exactly the bytes that are sent; empty without a body.
	Body []byte
	// Timestamp is in Unix seconds.
	Timestamp int64
	// Nonce has 1 to 255 visible ASCII characters, and is new for every request, retries included.
	Nonce string
}

// Sign returns the five signing headers of a request.
func (c Credentials) Sign(r RequestToSign) map[string]string {
	timestamp := strconv.FormatInt(r.Timestamp, 10)
	mac := hmac.New(sha256.New, []byte(c.Secret))
	fmt.Fprintf(mac, "%s\n%s\n%s\n%s\n", timestamp, r.Nonce, r.Method, r.Target)
	mac.Write(r.Body)
	return map[string]string{
		"X-MP-KEY-ID":     c.KeyID,
		"X-MP-PASSPHRASE": c.Passphrase,
		"X-MP-TIMESTAMP":  timestamp,
		"X-MP-NONCE":      r.Nonce,
		"X-MP-SIGNATURE":  hex.EncodeToString(mac.Sum(nil)),
	}
}

// String leaves the secret and the passphrase out of logs.
func (c Credentials) String() string { return c.KeyID }

// GoString is what %#v prints.
func (c Credentials) GoString() string { return strconv.Quote(c.KeyID) }

func randomText() (string, error) {
	var bytes [16]byte
	if _, err := rand.Read(bytes[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(bytes[:]), nil
}
