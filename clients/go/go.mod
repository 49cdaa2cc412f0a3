module externalpayments

go 1.19
