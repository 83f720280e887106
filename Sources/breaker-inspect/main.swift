print("breaker-inspect")
