-- One row a host, from its first lease on.
CREATE TABLE reflection_hosts (
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    claim INTEGER NOT NULL DEFAULT 0,
    claimed_at INTEGER NOT NULL DEFAULT 0,
    slot INTEGER NOT NULL,
    idle_lease TEXT,
    idle_generation INTEGER,
    turns_waiting INTEGER NOT NULL DEFAULT 0 CHECK (turns_waiting >= 0),
    trigger_id TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    mark TEXT,
    failures INTEGER NOT NULL DEFAULT 0,
    retry_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (scope, host)
) STRICT, WITHOUT ROWID;
CREATE INDEX reflection_hosts_waiting ON reflection_hosts (claimed_at)
    WHERE turns_waiting > 0 OR idle_lease IS NOT NULL;

CREATE TABLE reflections (
    cycle_id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    claim INTEGER NOT NULL CHECK (claim > 0),
    trigger TEXT NOT NULL CHECK (trigger IN ('idle', 'turn')),
    trigger_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    lease_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    idle INTEGER NOT NULL CHECK (idle IN (0, 1)),
    turns INTEGER NOT NULL,
    reflector TEXT NOT NULL,
    mark TEXT NOT NULL,
    claimed_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at INTEGER,
    result TEXT CHECK (result IN ('abandoned', 'discarded', 'failed', 'noop', 'proposed', 'skipped')),
    reason TEXT,
    tokens INTEGER NOT NULL,
    ms INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    admitted INTEGER NOT NULL DEFAULT 0,
    proposed INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0,
    repeated INTEGER NOT NULL DEFAULT 0,
    findings TEXT NOT NULL DEFAULT '[]',
    requeued INTEGER NOT NULL DEFAULT 0 CHECK (requeued IN (0, 1)),
    UNIQUE (scope, host, claim)
) STRICT, WITHOUT ROWID;

-- One open claim a host.
CREATE UNIQUE INDEX reflections_open ON reflections (scope, host) WHERE result IS NULL;
CREATE INDEX reflections_spending ON reflections (scope, host, claimed_at);
CREATE INDEX reflections_findings ON reflections (scope, host, claim) WHERE findings <> '[]';

-- name: expect
INSERT INTO reflection_hosts (scope, host, slot) VALUES (:scope, :host, :at_ms)
ON CONFLICT (scope, host) DO NOTHING;

-- name: queue_turn
UPDATE reflection_hosts SET turns_waiting = turns_waiting + 1 WHERE scope = :scope AND host = :host;

-- name: queue_idle
UPDATE reflection_hosts
SET slot = :slot, idle_lease = :lease_id, idle_generation = :generation
WHERE scope = :scope AND host = :host;

-- name: claim
INSERT INTO reflections (cycle_id, scope, host, claim, trigger, trigger_id, attempt, lease_id,
                         generation, idle, turns, reflector, mark, claimed_at, expires_at, tokens,
                         ms, cost)
VALUES (:cycle_id, :scope, :host, :claim, :trigger, :trigger_id, :attempt, :lease_id, :generation,
        :idle, :turns, :reflector, :mark, :at_ms, :expires_at, :tokens, :ms, :cost);

-- name: take
UPDATE reflection_hosts
SET claim = :claim, claimed_at = :at_ms, trigger_id = :trigger_id, attempts = :attempt,
    turns_waiting = turns_waiting - :turns,
    idle_lease = CASE WHEN :idle THEN NULL ELSE idle_lease END
WHERE scope = :scope AND host = :host AND claim = :claim - 1;

-- name: finish
UPDATE reflections
SET ended_at = :at_ms, result = :result, reason = :reason, tokens = :tokens, ms = :ms, cost = :cost,
    admitted = :admitted, proposed = :proposed, rejected = :rejected, repeated = :repeated,
    findings = :findings,
    requeued = :requeued
WHERE cycle_id = :cycle_id AND claim = :claim AND result IS NULL;

-- name: succeed
UPDATE reflection_hosts SET mark = :mark, failures = 0, retry_at = 0
WHERE scope = :scope AND host = :host;

-- name: fail
UPDATE reflection_hosts SET failures = failures + 1, retry_at = :retry_at
WHERE scope = :scope AND host = :host;

-- name: requeue
UPDATE reflection_hosts
SET turns_waiting = turns_waiting + :turns,
    idle_lease = CASE WHEN :idle THEN :lease_id ELSE idle_lease END,
    idle_generation = CASE WHEN :idle THEN :generation ELSE idle_generation END
WHERE scope = :scope AND host = :host;

-- name: due
SELECT l.scope, l.host, l.lease_id, l.generation, h.slot
FROM leases AS l INDEXED BY leases_live
CROSS JOIN reflection_hosts AS h ON h.scope = l.scope AND h.host = l.host
WHERE l.state = 'live' AND l.expires_at > :now_ms AND h.idle_lease IS NULL
    AND abs(:now_ms - h.slot) >= :period_ms
LIMIT 64;

-- name: ready
SELECT h.* FROM reflection_hosts AS h INDEXED BY reflection_hosts_waiting
WHERE (h.turns_waiting > 0 OR h.idle_lease IS NOT NULL)
    AND NOT h.retry_at BETWEEN :now_ms + 1 AND :now_ms + :open_ms
    AND NOT EXISTS (SELECT 1 FROM reflections AS o
                    WHERE o.scope = h.scope AND o.host = h.host AND o.result IS NULL)
ORDER BY h.claimed_at LIMIT :max_rows;

-- name: overdue
SELECT r.* FROM reflections AS r INDEXED BY reflections_open
WHERE r.result IS NULL AND NOT r.expires_at BETWEEN :now_ms + 1 AND :now_ms + :longest_ms LIMIT 64;

-- name: open
SELECT * FROM reflections WHERE cycle_id = :cycle_id AND result IS NULL;

-- name: host
SELECT * FROM reflection_hosts WHERE scope = :scope AND host = :host;

-- name: spent
SELECT coalesce(sum(tokens), 0) AS tokens, coalesce(sum(ms), 0) AS ms,
       coalesce(sum(cost), 0) AS cost
FROM reflections
WHERE scope = :scope AND host = :host
    AND claimed_at BETWEEN :now_ms - :window_ms + 1 AND :now_ms + :window_ms - 1;

-- name: findings
SELECT findings FROM reflections
WHERE scope = :scope AND host = :host AND findings <> '[]' ORDER BY claim DESC LIMIT 64;

-- name: newest
SELECT * FROM reflections WHERE scope = :scope AND host = :host ORDER BY claim DESC LIMIT :max_rows;
