package main

import (
	"io"
	"log"
	"net/http"
	"os"

	payments "externalpayments"
)

const bodyMaximum = 1_000_000

func main() {
	verifier := payments.WebhookVerifier{Secrets: []string{os.Getenv("WEBHOOK_SECRET")}}
	http.HandleFunc("/hooks", func(w http.ResponseWriter, r *http.Request) {
		// The bytes as received, before anything parses them.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMaximum))
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		event, err := verifier.Verify(r.Header, body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		log.Println(event.ID, event.Type) // act once on each ID
		w.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:8080", nil))
}
