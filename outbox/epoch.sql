CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    epoch TEXT NOT NULL
) STRICT;

-- name: found
INSERT OR IGNORE INTO ledger (one, epoch) VALUES (1, :epoch);

-- name: epoch
SELECT epoch FROM ledger WHERE one = 1;
