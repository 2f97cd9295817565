CREATE TABLE stops (
    stop INTEGER PRIMARY KEY,
    stopped_at INTEGER NOT NULL,
    stopped_by TEXT NOT NULL,
    resumed_at INTEGER,
    resumed_by TEXT
) STRICT;

-- One at most is in force.
CREATE UNIQUE INDEX stops_in_force ON stops (ifnull(resumed_at, 0)) WHERE resumed_at IS NULL;

-- name: stop
INSERT INTO stops (stopped_at, stopped_by) VALUES (:at_ms, :by);

-- name: resume
UPDATE stops SET resumed_at = :at_ms, resumed_by = :by WHERE resumed_at IS NULL;

-- name: in_force
SELECT stopped_at, stopped_by FROM stops WHERE resumed_at IS NULL;
