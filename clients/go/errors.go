package externalpayments

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Response is a response of the service, of any status.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// APIError is a response that is an error of the service, or an unexpected one of a proxy in front of it.
type APIError struct {
	// Status is that of HTTP.
	Status int
	// Type is the category, e.g. invalid_request_error; empty when the response is not the service's own.
	Type string
	// Code is a slug for programs, e.g. parameter_invalid; may be empty like Type.
	Code string
	// ErrorCode is short, e.g. E1001; may be empty like Type.
	ErrorCode string
	Message   string
	Param     string
	// RequestID is what to quote when you contact support.
	RequestID string
	DocURL    string
	// UserSafeMessage says whether Message may be shown to your customers as it is.
	UserSafeMessage bool
	// Retryable says whether another attempt may succeed, after the client has used all of its own.
	Retryable bool
	// RetryAfter is how long to wait before another attempt; negative when the response does not say.
	RetryAfter time.Duration
}

func (e *APIError) Error() string {
	if e.ErrorCode == "" {
		return e.Message
	}
	return e.ErrorCode + ": " + e.Message
}

// ConnectionError means that there was no response: the service could not be reached, was too slow, the
// connection broke, or the context ended.
//
// It is unknown whether a creation took effect. Repeat it with the same idempotency key, or look the payment up
// by its CustomerReferenceID, before you create it under another key.
type ConnectionError struct {
	Method string
	// Path has no query, which may contain references of customers.
	Path string
	// Attempts is how often the request was sent.
	Attempts int
	Err      error
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("%s %s got no answer: %v", e.Method, e.Path, e.Err)
}

func (e *ConnectionError) Unwrap() error { return e.Err }

func newAPIError(r *Response, message string) *APIError {
	var envelope struct {
		Error map[string]any `json:"error"`
	}
	// The response of a proxy may be anything: its fields stay empty.
	_ = json.Unmarshal(r.Body, &envelope)
	text := func(name string) string {
		value, _ := envelope.Error[name].(string)
		return value
	}
	safe, _ := envelope.Error["userSafeMessage"].(bool)
	e := &APIError{
		Status:          r.Status,
		Type:            text("type"),
		Code:            text("code"),
		ErrorCode:       text("errorCode"),
		Message:         text("message"),
		Param:           text("param"),
		RequestID:       text("requestId"),
		DocURL:          text("docUrl"),
		UserSafeMessage: safe,
		Retryable:       r.Header.Get("X-MP-Should-Retry") == "true",
		RetryAfter:      -1,
	}
	if e.Message == "" {
		e.Message = message
	}
	if e.RequestID == "" {
		e.RequestID = r.Header.Get("X-Request-Id")
	}
	if wait, ok := retryAfter(r.Header); ok {
		e.RetryAfter = wait
	}
	return e
}

// retryAfter reads Retry-After; not ok when it is missing or a date, which the service never sends.
func retryAfter(header http.Header) (time.Duration, bool) {
	text := header.Get("Retry-After")
	if text == "" || len(text) > 9 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	seconds, err := strconv.Atoi(text)
	return time.Duration(seconds) * time.Second, err == nil
}
