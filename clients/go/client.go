// Package externalpayments is the client of the External Payments Service, for the server of a merchant or a
// partner.
package externalpayments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	base = "/external/v1"
	// pageSize is what an iterator asks for.
	pageSize = 100
)

var errBaseURL = errors.New("BaseURL must be an http or https URL without user, query and fragment, for example https://payments.example.com")

// Options are what New takes; all but BaseURL and Credentials have defaults.
type Options struct {
	// BaseURL is scheme and host of the service, for example https://payments.example.com. A path is the prefix
	// under which a proxy publishes the service: it is part of requests, but not of signatures.
	BaseURL     string
	Credentials Credentials
	// Timeout of one attempt; 30 seconds by default.
	Timeout time.Duration
	// MaxAttempts per call, the first included; 4 by default.
	MaxAttempts int
	// HTTPClient sends the requests; redirects are not followed in any case.
	HTTPClient *http.Client
	// Now and Sleep are for tests.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

// Client is the API for one key. It is safe for concurrent use.
//
// Except for Do, the error of every call is an *APIError when the response is one. That of every call is a
// *ConnectionError when there was no response.
type Client struct {
	baseURL string
	prefix  string
	// sign knows the credentials, so that none is printed with the client.
	sign        func(RequestToSign) map[string]string
	timeout     time.Duration
	maxAttempts int
	http        *http.Client
	now         func() time.Time
	sleep       func(context.Context, time.Duration) error
}

// New makes a client. The error is about an invalid option.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" ||
		u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, errBaseURL
	}
	if o.Timeout < 0 || o.MaxAttempts < 0 {
		return nil, errors.New("Timeout and MaxAttempts must be above 0")
	}
	c := &Client{
		baseURL:     strings.TrimRight(u.String(), "/"),
		prefix:      strings.TrimRight(u.EscapedPath(), "/"),
		sign:        o.Credentials.Sign,
		timeout:     o.Timeout,
		maxAttempts: o.MaxAttempts,
		http:        &http.Client{},
		now:         o.Now,
		sleep:       o.Sleep,
	}
	if o.HTTPClient != nil {
		*c.http = *o.HTTPClient
	}
	// A signed request must not follow a redirect to another server.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.timeout == 0 {
		c.timeout = 30 * time.Second
	}
	if c.maxAttempts == 0 {
		c.maxAttempts = 4
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.sleep == nil {
		c.sleep = sleep
	}
	return c, nil
}

// CreatePayment creates a payment. Pass your order's ID as the idempotency key to be protected across calls and
// restarts; with an empty one, a random key protects the retries of this call.
func (c *Client) CreatePayment(ctx context.Context, p NewPayment, idempotencyKey string) (*CreatedPayment, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if idempotencyKey == "" {
		if idempotencyKey, err = randomText(); err != nil {
			return nil, err
		}
	}
	return call[CreatedPayment](ctx, c, Request{http.MethodPost, base + "/payments/prompt", body, idempotencyKey})
}

// GetPayment reads a payment. The ErrorCode is E3001 when there is no such payment.
func (c *Client) GetPayment(ctx context.Context, id string) (*Payment, error) {
	return get[Payment](ctx, c, "/payments/"+url.PathEscape(id))
}

// ListPayments reads one page, newest first.
func (c *Client) ListPayments(ctx context.Context, q PaymentQuery) (*Page[Payment], error) {
	return get[Page[Payment]](ctx, c, "/payments"+q.encode())
}

// Payments walks through all matching payments, newest first. q.Limit is the page size, not their number.
func (c *Client) Payments(q PaymentQuery) *Iterator[Payment] {
	q.EndingBefore = ""
	if q.Limit == 0 {
		q.Limit = pageSize
	}
	return &Iterator[Payment]{fetch: func(ctx context.Context, last *Payment) (*Page[Payment], error) {
		if last != nil {
			q.StartingAfter = last.ID
		}
		return c.ListPayments(ctx, q)
	}}
}

// GetEvent reads an event. The ErrorCode is E3001 when there is no such event.
func (c *Client) GetEvent(ctx context.Context, id string) (*RecordedEvent, error) {
	return get[RecordedEvent](ctx, c, "/events/"+url.PathEscape(id))
}

// ListEvents reads one page, newest first unless q.Order is "oldest".
func (c *Client) ListEvents(ctx context.Context, q EventQuery) (*Page[RecordedEvent], error) {
	return get[Page[RecordedEvent]](ctx, c, "/events"+q.encode())
}

// ActiveBlockchains lists the networks that are active.
func (c *Client) ActiveBlockchains(ctx context.Context) ([]Blockchain, error) {
	blockchains, err := get[[]Blockchain](ctx, c, "/blockchains/active")
	if err != nil {
		return nil, err
	}
	return *blockchains, nil
}

// SimulatePayment plays what a customer and a chain do, on a payment of a test merchant: confirm, detect, under, rest,
// over, late, duplicate, revert, reorg, fail, cancel or expire. Without a blockchainID, a payment that has no network gets
// the first one that it offers. The ErrorCode is E1040 for a case that the payment's state does not allow, and E2008 with a
// key of a live merchant.
func (c *Client) SimulatePayment(ctx context.Context, id, played, blockchainID string) (*Simulation, error) {
	return play(ctx, c, id, "simulate", struct {
		Case         string `json:"case"`
		BlockchainID string `json:"blockchainId,omitempty"`
	}{played, blockchainID})
}

// AdvanceClock moves the time of a test merchant's payment forward, by whole seconds. It fails as SimulatePayment does.
func (c *Client) AdvanceClock(ctx context.Context, id string, by time.Duration) (*Simulation, error) {
	return play(ctx, c, id, "clock", struct {
		Seconds int64 `json:"seconds"`
	}{int64(by / time.Second)})
}

func play(ctx context.Context, c *Client, id, what string, body any) (*Simulation, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	path := base + "/test/payments/" + url.PathEscape(id) + "/" + what
	return call[Simulation](ctx, c, Request{Method: http.MethodPost, Path: path, Body: text})
}

func get[T any](ctx context.Context, c *Client, path string) (*T, error) {
	return call[T](ctx, c, Request{Method: http.MethodGet, Path: base + path})
}

func call[T any](ctx context.Context, c *Client, r Request) (*T, error) {
	response, err := c.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	if response.Status < 200 || response.Status > 299 {
		return nil, newAPIError(response, fmt.Sprintf("HTTP %d", response.Status))
	}
	value := new(T)
	if json.Unmarshal(response.Body, value) != nil {
		return nil, newAPIError(response, fmt.Sprintf("HTTP %d with a body that is not JSON", response.Status))
	}
	return value, nil
}
