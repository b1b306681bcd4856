"""What a request may mean: options, and how well each fits."""
