"""The benchmark: `make bench`. Everything is a ratio against a peer in the same run; nothing here is a test."""
