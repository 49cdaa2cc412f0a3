package externalpayments

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
)

const (
	backoffFirst   = 500 * time.Millisecond
	backoffMaximum = 8 * time.Second
	// retryAfterMaximum is the longest Retry-After that is waited for: the default window of the rate limit.
	retryAfterMaximum = time.Minute
)

// Request is any request to the API.
type Request struct {
	Method string
	// Path has its query with it, percent-encoded.
	Path string
	// Body is JSON, sent unchanged; nil without a body.
	Body []byte
	// IdempotencyKey is not sent when it is empty.
	IdempotencyKey string
}

// repeatable says whether the service executes it once, however often it arrives.
func (r Request) repeatable() bool { return r.Method == http.MethodGet || r.IdempotencyKey != "" }

// Do sends any signed request, with retries, and returns the last response, of any status. Each attempt has a
// new nonce, timestamp and signature, and the same idempotency key.
//
// A request that might execute twice is never repeated. A refusal (4xx) has executed nothing and is retried when
// X-MP-Should-Retry is "true". A failure (5xx) or a missing response is retried only for reads and for writes
// with an idempotency key. A response that asks for a longer wait than a minute is returned.
//
// The error is a *ConnectionError when the last attempt got no response.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	for attempt := 1; ; attempt++ {
		request, err := c.prepare(r)
		if err != nil {
			return nil, err
		}
		last := attempt >= c.maxAttempts
		wait := backoff(attempt)
		response, err := c.exchange(ctx, request)
		switch {
		case err != nil:
			if last || !r.repeatable() || ctx.Err() != nil {
				return nil, connectionError(r, attempt, err)
			}
		case last || !mayRetry(response, r.repeatable()):
			return response, nil
		default:
			if asked, ok := retryAfter(response.Header); ok {
				if asked > retryAfterMaximum {
					return response, nil
				}
				wait = asked
			}
		}
		if err := c.sleep(ctx, wait); err != nil {
			return nil, connectionError(r, attempt, err)
		}
	}
}

// prepare signs a request for one attempt. A path in the base URL is a proxy's: it is sent, but not signed.
func (c *Client) prepare(r Request) (*http.Request, error) {
	if !strings.HasPrefix(r.Path, "/") {
		return nil, errors.New("a path starts with /")
	}
	if strings.IndexFunc(r.IdempotencyKey, unicode.IsControl) >= 0 {
		return nil, errors.New("an idempotency key is text on one line")
	}
	request, err := http.NewRequest(r.Method, c.baseURL+r.Path, nil)
	if err != nil {
		return nil, err
	}
	// A body without GetBody keeps the transport from repeating the request by itself, with the same nonce.
	request.Body = io.NopCloser(bytes.NewReader(r.Body))
	request.ContentLength = int64(len(r.Body))
	nonce, err := randomText()
	if err != nil {
		return nil, err
	}
	headers := c.sign(RequestToSign{
		Method:    r.Method,
		Target:    strings.TrimPrefix(request.URL.RequestURI(), c.prefix),
		Body:      r.Body,
		Timestamp: c.now().Unix(),
		Nonce:     nonce,
	})
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	if r.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.IdempotencyKey != "" {
		request.Header.Set("Idempotency-Key", r.IdempotencyKey)
	}
	return request, nil
}

func (c *Client) exchange(ctx context.Context, request *http.Request) (*Response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	response, err := c.http.Do(request.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return &Response{response.StatusCode, response.Header, body}, nil
}

func connectionError(r Request, attempts int, err error) error {
	// What http.Client returns has the whole URL in its text.
	if wrapped, ok := err.(*url.Error); ok {
		err = wrapped.Err
	}
	path, _, _ := strings.Cut(r.Path, "?")
	return &ConnectionError{Method: r.Method, Path: path, Attempts: attempts, Err: err}
}

func mayRetry(r *Response, repeatable bool) bool {
	switch r.Header.Get("X-MP-Should-Retry") {
	case "true":
		return repeatable || r.Status < 500
	case "":
		// A proxy that cannot reach the service.
		switch r.Status {
		case 429, 502, 503, 504:
			return repeatable
		}
	}
	return false
}

// backoff is exponential. Half of it is random, so that clients do not retry at the same time.
func backoff(attempt int) time.Duration {
	full := backoffMaximum
	// Beyond it the shift would overflow.
	if attempt < 5 {
		full = backoffFirst << (attempt - 1)
	}
	random, err := rand.Int(rand.Reader, big.NewInt(int64(full/2)))
	if err != nil {
		return full
	}
	return full/2 + time.Duration(random.Int64())
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
