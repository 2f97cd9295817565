CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    epoch TEXT NOT NULL,
    -- Journal row behind which LOG is being folded; NULL when no fold is open.
    folded_after INTEGER CHECK (folded_after >= 0)
) STRICT;

-- name: found
INSERT OR IGNORE INTO ledger (one, epoch) VALUES (1, :epoch);

-- name: epoch
SELECT epoch FROM ledger WHERE one = 1;

-- name: begin_fold
UPDATE ledger SET epoch = :epoch, folded_after = :after WHERE one = 1 AND folded_after IS NULL;

-- name: open_fold
SELECT folded_after FROM ledger WHERE one = 1;

-- name: end_fold
UPDATE ledger SET folded_after = NULL WHERE one = 1;
