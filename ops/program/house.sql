-- name: waiting
SELECT outbox_rows + open_claims AS waiting FROM file WHERE id = 1;
