CREATE TABLE turns (
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    lease_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    completed_at INTEGER NOT NULL,
    reflection TEXT NOT NULL CHECK (reflection IN ('waiting', 'claimed', 'done')),
    cycle_id TEXT,
    PRIMARY KEY (scope, host, turn_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX turns_waiting ON turns (scope, host, generation, completed_at, turn_id, lease_id)
    WHERE reflection = 'waiting';
CREATE INDEX turns_claimed ON turns (cycle_id) WHERE reflection = 'claimed';

-- name: complete
INSERT INTO turns (scope, host, turn_id, lease_id, generation, completed_at, reflection)
VALUES (:scope, :host, :turn_id, :lease_id, :generation, :at_ms, 'waiting');

-- name: find
SELECT turn_id FROM turns WHERE scope = :scope AND host = :host AND turn_id = :turn_id;

-- name: first_waiting
SELECT lease_id, generation, turn_id FROM turns
WHERE scope = :scope AND host = :host AND reflection = 'waiting'
ORDER BY generation, completed_at, turn_id LIMIT 1;

-- name: count_waiting
SELECT count(*) AS turns FROM turns
WHERE scope = :scope AND host = :host AND generation = :generation AND reflection = 'waiting';

-- name: claim
UPDATE turns SET reflection = 'claimed', cycle_id = :cycle_id
WHERE scope = :scope AND host = :host AND generation = :generation AND reflection = 'waiting';

-- name: settle
UPDATE turns SET reflection = :reflection WHERE cycle_id = :cycle_id AND reflection = 'claimed';
