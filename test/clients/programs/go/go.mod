module client

go 1.19

require externalpayments v0.0.0

replace externalpayments => ../../../../clients/go
