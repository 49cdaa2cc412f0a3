// Executes the library calls that it reads, one JSON document per line, and prints their results.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"externalpayments"
)

type given struct {
	Kind                      string
	KeyID, Secret, Passphrase string
	Method, Path, Body, Nonce string
	Timestamp                 int64
	Secrets                   []string
	Headers                   map[string]string
	Now, ToleranceSeconds     int64
	URL, Call                 string
	MaxAttempts, TimeoutMs    int
	Arguments                 struct {
		Payment                                json.RawMessage
		Query                                  query
		ID, Method, Path, Body, IdempotencyKey string
		After                                  string
		Since                                  time.Time
		Case, BlockchainID                     string
		Seconds                                int64
	}
}

type query struct {
	externalpayments.PaymentQuery
	CreatedAfter, CreatedBefore string
	Type, PaymentID             string
	EndDate                     time.Time
	Delivered                   *bool
}

type object map[string]any

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var g given
		if err := json.Unmarshal(lines.Bytes(), &g); err != nil {
			log.Fatal(err)
		}
		if err := out.Encode(answer(g)); err != nil {
			log.Fatal(err)
		}
	}
}

func (g given) credentials() externalpayments.Credentials {
	return externalpayments.Credentials{KeyID: g.KeyID, Secret: g.Secret, Passphrase: g.Passphrase}
}

func answer(g given) object {
	switch g.Kind {
	case "request":
		return object{"headers": g.credentials().Sign(externalpayments.RequestToSign{
			Method: g.Method, Target: g.Path, Body: []byte(g.Body), Timestamp: g.Timestamp, Nonce: g.Nonce,
		})}
	case "webhook":
		return verify(g)
	case "print":
		return show(g)
	default:
		return call(g)
	}
}

func verify(g given) object {
	header := http.Header{}
	for name, value := range g.Headers {
		header.Set(name, value)
	}
	verifier := externalpayments.WebhookVerifier{
		Secrets:   g.Secrets,
		Tolerance: time.Duration(g.ToleranceSeconds) * time.Second,
		Now:       func() time.Time { return time.Unix(g.Now, 0) },
	}
	event, err := verifier.Verify(header, []byte(g.Body))
	var refused *externalpayments.WebhookError
	if errors.As(err, &refused) {
		return object{"valid": false, "failure": refused.Failure}
	}
	if err != nil {
		return object{"valid": false, "failure": "secret"}
	}
	return object{"valid": true, "id": event.ID}
}

func show(g given) object {
	options := externalpayments.Options{BaseURL: g.URL, Credentials: g.credentials()}
	client, err := externalpayments.New(options)
	if err != nil {
		log.Fatal(err)
	}
	verifier := externalpayments.WebhookVerifier{Secrets: g.Secrets}
	printed := ""
	for _, each := range []any{options.Credentials, &options.Credentials, options, client, *client, verifier, &verifier} {
		printed += fmt.Sprintf("%v %+v %#v %s\n", each, each, each, each)
	}
	return object{"printed": printed}
}

func call(g given) object {
	pauses := []float64{}
	paused := time.Duration(0)
	client, err := externalpayments.New(externalpayments.Options{
		BaseURL:     g.URL,
		Credentials: g.credentials(),
		Timeout:     time.Duration(g.TimeoutMs) * time.Millisecond,
		MaxAttempts: g.MaxAttempts,
		// Pauses take no time, but advance the clock.
		Now: func() time.Time { return time.Now().Add(paused) },
		Sleep: func(_ context.Context, d time.Duration) error {
			pauses = append(pauses, float64(d)/float64(time.Millisecond))
			paused += d
			return nil
		},
	})
	var result any
	if err == nil {
		result, err = use(client, g)
	}
	if err != nil {
		return object{"error": describe(err), "pauses": pauses}
	}
	return object{"result": result, "pauses": pauses}
}

func use(client *externalpayments.Client, g given) (any, error) {
	ctx, a := context.Background(), g.Arguments
	switch g.Call {
	case "create":
		var payment externalpayments.NewPayment
		if err := json.Unmarshal(a.Payment, &payment); err != nil {
			return nil, err
		}
		return client.CreatePayment(ctx, payment, a.IdempotencyKey)
	case "get":
		return client.GetPayment(ctx, a.ID)
	case "list":
		q, err := a.Query.parse()
		if err != nil {
			return nil, err
		}
		return client.ListPayments(ctx, q)
	case "all":
		q, err := a.Query.parse()
		if err != nil {
			return nil, err
		}
		return collect(ctx, client.Payments(q))
	case "event":
		return client.GetEvent(ctx, a.ID)
	case "listEvents":
		return client.ListEvents(ctx, a.Query.events())
	case "events":
		q := a.Query.events()
		q.StartDate = a.Since
		return collect(ctx, client.Events(a.After, q))
	case "blockchains":
		return client.ActiveBlockchains(ctx)
	case "simulate":
		return client.SimulatePayment(ctx, a.ID, a.Case, a.BlockchainID)
	case "advance":
		return client.AdvanceClock(ctx, a.ID, time.Duration(a.Seconds)*time.Second)
	default:
		var body []byte
		if a.Body != "" {
			body = []byte(a.Body)
		}
		response, err := client.Do(ctx, externalpayments.Request{
			Method: a.Method, Path: a.Path, Body: body, IdempotencyKey: a.IdempotencyKey,
		})
		if err != nil {
			return nil, err
		}
		return object{"status": response.Status}, nil
	}
}

func collect[T any](ctx context.Context, it *externalpayments.Iterator[T]) ([]T, error) {
	all := []T{}
	for it.Next(ctx) {
		all = append(all, it.Value())
	}
	return all, it.Err()
}

func (q query) events() externalpayments.EventQuery {
	return externalpayments.EventQuery{
		Type: q.Type, PaymentID: q.PaymentID, EndDate: q.EndDate, Limit: q.Limit,
		Undelivered: q.Delivered != nil && !*q.Delivered,
	}
}

func (q query) parse() (externalpayments.PaymentQuery, error) {
	parsed := q.PaymentQuery
	for text, into := range map[string]*time.Time{
		q.CreatedAfter: &parsed.CreatedAfter, q.CreatedBefore: &parsed.CreatedBefore,
	} {
		if text == "" {
			continue
		}
		bound, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return parsed, err
		}
		*into = bound
	}
	return parsed, nil
}

func describe(err error) object {
	var refused *externalpayments.APIError
	if errors.As(err, &refused) {
		fields := object{
			"kind": "api", "status": refused.Status, "type": refused.Type, "code": refused.Code,
			"errorCode": refused.ErrorCode, "message": refused.Error(), "requestId": refused.RequestID,
			"userSafeMessage": refused.UserSafeMessage, "retryable": refused.Retryable,
		}
		if refused.Param != "" {
			fields["param"] = refused.Param
		}
		if refused.DocURL != "" {
			fields["docUrl"] = refused.DocURL
		}
		if refused.RetryAfter >= 0 {
			fields["retryAfterSeconds"] = refused.RetryAfter.Seconds()
		}
		return fields
	}
	var lost *externalpayments.ConnectionError
	if errors.As(err, &lost) {
		return object{"kind": "connection", "attempts": lost.Attempts, "message": lost.Error()}
	}
	return object{"kind": "argument", "message": err.Error()}
}
