package externalpayments

import (
	"context"
	"net/url"
	"strconv"
	"time"
)

// lookBack is how far before an event or a time Events begins: an event can be read only after its transaction
// has ended, and has the clock of one of several servers.
const lookBack = time.Minute

// RecordedEvent is an event with what became of its webhooks, which carry the same without Deliveries.
type RecordedEvent struct {
	Event
	// Deliveries are the newest first, at most 10; none if no enabled endpoint was subscribed to the type.
	Deliveries []EventDelivery `json:"deliveries"`
}

// EventDelivery is what became of an event at one endpoint.
type EventDelivery struct {
	ID         string `json:"id"`
	EndpointID string `json:"endpointId"`
	// Status is pending, succeeded, failed, cancelled or withheld.
	Status        string     `json:"status"`
	RedeliveryOf  *string    `json:"redeliveryOf"`
	CreatedAt     time.Time  `json:"createdAt"`
	NextAttemptAt *time.Time `json:"nextAttemptAt"`
	// Attempts are the oldest first.
	Attempts []DeliveryAttempt `json:"attempts"`
}

// DeliveryAttempt is one request to an endpoint.
type DeliveryAttempt struct {
	At         time.Time `json:"at"`
	DurationMs int64     `json:"durationMs"`
	// StatusCode is nil without a response, and Error says why.
	StatusCode *int    `json:"statusCode"`
	Error      *string `json:"error"`
}

// EventQuery filters events; empty fields match all.
type EventQuery struct {
	Type      string
	PaymentID string
	// StartDate and EndDate are inclusive.
	StartDate, EndDate time.Time
	// Undelivered leaves only events that an endpoint has not taken.
	Undelivered bool
	// Limit is how many events a page has, 1 to 100.
	Limit int
	// Order is newest or oldest, StartingAfter and EndingBefore are cursors: events that the list has after or
	// before this one. Events takes none of them.
	Order, StartingAfter, EndingBefore string
}

func (q EventQuery) encode() string {
	values := url.Values{}
	set(values, "type", q.Type)
	set(values, "paymentId", q.PaymentID)
	set(values, "startDate", formatTime(q.StartDate))
	set(values, "endDate", formatTime(q.EndDate))
	set(values, "order", q.Order)
	set(values, "startingAfter", q.StartingAfter)
	set(values, "endingBefore", q.EndingBefore)
	if q.Undelivered {
		values.Set("delivered", "false")
	}
	if q.Limit != 0 {
		values.Set("limit", strconv.Itoa(q.Limit))
	}
	return encode(values)
}

// Events walks through all matching events, oldest first, and ends with the newest. It begins a minute before the
// event with the ID after, else a minute before q.StartDate, else with the oldest event that is kept.
//
// Keep the ID of the last event that you have processed, and pass it as after the next time: then none is missed.
// Those of the minute before it come again, since events become readable in no exact order, so act once on each
// ID, as for webhooks. The ErrorCode is E3001 when the event after is no longer kept.
func (c *Client) Events(after string, q EventQuery) *Iterator[RecordedEvent] {
	q.Order, q.StartingAfter, q.EndingBefore = "oldest", "", ""
	if q.Limit == 0 {
		q.Limit = pageSize
	}
	var mark *RecordedEvent
	return &Iterator[RecordedEvent]{
		skip: func(event RecordedEvent) bool { return mark != nil && event.ID == mark.ID },
		fetch: func(ctx context.Context, last *RecordedEvent) (*Page[RecordedEvent], error) {
			page := q
			switch {
			case last != nil:
				page.StartingAfter = last.ID
			case after != "":
				var err error
				if mark, err = c.GetEvent(ctx, after); err != nil {
					return nil, err
				}
			}
			if mark != nil {
				page.StartDate = mark.CreatedAt
			}
			if !page.StartDate.IsZero() {
				page.StartDate = page.StartDate.Add(-lookBack)
			}
			return c.ListEvents(ctx, page)
		},
	}
}
