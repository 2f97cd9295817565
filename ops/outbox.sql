-- Of a host's own file, not of the ledger.

-- name: state
SELECT host_epoch, outbox_rows, outbox_bytes, open_claims, acknowledged, next_number - 1 AS numbered
FROM file WHERE id = 1;

-- name: unsent
SELECT count(*) AS unsent FROM outbox WHERE sent_ms = 0;

-- name: claims
SELECT id, kind, call_id, claimed_at, expires_at FROM claims INDEXED BY claims_open
WHERE number IS NULL ORDER BY claimed_at LIMIT :max_rows;

-- name: parked
SELECT count(*) AS parked FROM parked;

-- name: waiting_rows
SELECT number, kind, body, sent_ms FROM outbox ORDER BY number LIMIT :max_rows;

-- name: parked_rows
SELECT number, kind, body, parked_at FROM parked ORDER BY number;
