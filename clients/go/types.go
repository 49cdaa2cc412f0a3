package externalpayments

import (
	"net/url"
	"strconv"
	"time"
)

// Payment is a payment of the API. Amounts are USD cents.
type Payment struct {
	Object           string `json:"object"`
	ID               string `json:"id"`
	Amount           int64  `json:"amount"`
	CommissionAmount *int64 `json:"commissionAmount"`
	// CommissionPayer is merchant or shopper.
	CommissionPayer string `json:"commissionPayer"`
	// SettlementModel is split or direct; nil on US merchant accounts.
	SettlementModel *string `json:"settlementModel"`
	// Status is pending until the payment ends; successful, unsuccessful, expired and cancelled are final.
	Status        string  `json:"status"`
	SessionStatus *string `json:"sessionStatus"`
	BlockchainID  *string `json:"blockchainId"`
	// TokenAmount is the amount of the asset in decimal.
	TokenAmount         *string       `json:"tokenAmount"`
	TransactionHash     *string       `json:"transactionHash"`
	PaidAt              *time.Time    `json:"paidAt"`
	ExpiresAt           time.Time     `json:"expiresAt"`
	CreatedAt           time.Time     `json:"createdAt"`
	RedirectURL         *string       `json:"redirectUrl"`
	CustomerReferenceID *string       `json:"customerReferenceId"`
	CancellationReason  *string       `json:"cancellationReason"`
	LastError           *PaymentError `json:"lastError"`
}

// PaymentError is the latest failure of a payment.
type PaymentError struct {
	Code       string    `json:"code"`
	Message    string    `json:"message"`
	OccurredAt time.Time `json:"occurredAt"`
}

// NewPayment is what CreatePayment takes; only Amount is required.
type NewPayment struct {
	// Amount is in USD cents.
	Amount              int64    `json:"amount"`
	BlockchainIDs       []string `json:"blockchainIds,omitempty"`
	Note                string   `json:"note,omitempty"`
	RedirectURL         string   `json:"redirectUrl,omitempty"`
	CustomerReferenceID string   `json:"customerReferenceId,omitempty"`
	// MerchantID is required with a partner's key, not allowed with a merchant's.
	MerchantID string `json:"merchantId,omitempty"`
}

// CreatedPayment is a new payment.
type CreatedPayment struct {
	Prompt Payment `json:"prompt"`
	// CheckoutURL is where to send the customer. Use it as it is.
	CheckoutURL string `json:"checkoutUrl"`
}

// PaymentQuery filters payments; empty fields match all.
type PaymentQuery struct {
	Status string
	// CustomerReferenceID has to match exactly.
	CustomerReferenceID string
	// CreatedAfter and CreatedBefore are exclusive.
	CreatedAfter, CreatedBefore time.Time
	// Limit is how many payments a page has, 1 to 100.
	Limit int
	// StartingAfter is a cursor: payments created before this one.
	StartingAfter string
	// EndingBefore is a cursor: payments created after this one. Payments does not take it.
	EndingBefore string
}

func (q PaymentQuery) encode() string {
	values := url.Values{}
	set(values, "status", q.Status)
	set(values, "customerReferenceId", q.CustomerReferenceID)
	set(values, "createdAfter", formatTime(q.CreatedAfter))
	set(values, "createdBefore", formatTime(q.CreatedBefore))
	set(values, "startingAfter", q.StartingAfter)
	set(values, "endingBefore", q.EndingBefore)
	if q.Limit != 0 {
		values.Set("limit", strconv.Itoa(q.Limit))
	}
	return encode(values)
}

func set(values url.Values, name, value string) {
	if value != "" {
		values.Set(name, value)
	}
}

func encode(values url.Values) string {
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// formatTime writes milliseconds, which is the precision of the API.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// Simulation is what became of a test merchant's payment.
type Simulation struct {
	Payment Payment `json:"payment"`
	// Waits says why the payment waits although a transfer has arrived; nil if it does not.
	Waits *string `json:"waits"`
}

// Page is one page of a list, newest first.
type Page[T any] struct {
	Data    []T  `json:"data"`
	HasMore bool `json:"hasMore"`
}

// Blockchain is a network.
type Blockchain struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	IsActive    bool   `json:"isActive"`
	AssetSymbol string `json:"assetSymbol"`
	AssetName   string `json:"assetName"`
}
