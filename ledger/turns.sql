CREATE TABLE turns (
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    lease_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    completed_at INTEGER NOT NULL,
    reflection TEXT NOT NULL CHECK (reflection IN ('waiting', 'done')),
    PRIMARY KEY (scope, host, turn_id)
) STRICT, WITHOUT ROWID;

-- name: complete
INSERT INTO turns (scope, host, turn_id, lease_id, generation, completed_at, reflection)
VALUES (:scope, :host, :turn_id, :lease_id, :generation, :at_ms, 'waiting');

-- name: find
SELECT turn_id FROM turns WHERE scope = :scope AND host = :host AND turn_id = :turn_id;
