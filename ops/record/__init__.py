"""The operator's work on the record itself: journal, LOG, payloads, and copies of them."""
