CREATE TABLE approvals (
    approval_id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    lease_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    proposal_hash TEXT NOT NULL,
    effect TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'granted', 'denied', 'used', 'expired')),
    requested_at INTEGER NOT NULL,
    approver TEXT,
    decided_at INTEGER,
    expires_at INTEGER CHECK (state <> 'granted' OR expires_at IS NOT NULL),
    used_by TEXT,
    ended_at INTEGER
) STRICT, WITHOUT ROWID;
-- What still counts for a proposal: one at most.
CREATE UNIQUE INDEX approvals_standing
    ON approvals (scope, host, proposal_hash, generation, effect)
    WHERE state IN ('pending', 'granted', 'denied');
CREATE INDEX approvals_waiting ON approvals (scope, host, approval_id)
    WHERE state IN ('pending', 'granted');
CREATE INDEX approvals_lapsing ON approvals (expires_at) WHERE state = 'granted';

-- name: ask
INSERT INTO approvals (approval_id, scope, host, lease_id, generation, proposal_hash, effect, state,
                       requested_at)
VALUES (:approval_id, :scope, :host, :lease_id, :generation, :proposal_hash, :effect, 'pending',
        :at_ms);

-- name: grant
UPDATE approvals SET state = 'granted', approver = :approver, decided_at = :at_ms,
                     expires_at = :expires_at
WHERE approval_id = :approval_id AND state = 'pending';

-- name: deny
UPDATE approvals SET state = 'denied', approver = :approver, decided_at = :at_ms, ended_at = :at_ms
WHERE approval_id = :approval_id AND state IN ('pending', 'granted');

-- name: use
UPDATE approvals SET state = 'used', used_by = :evaluation_id, ended_at = :at_ms
WHERE approval_id = :approval_id AND state = 'granted';

-- name: expire
UPDATE approvals SET state = 'expired', ended_at = :at_ms
WHERE approval_id = :approval_id AND state IN ('pending', 'granted');

-- name: standing
SELECT * FROM approvals
WHERE scope = :scope AND host = :host AND proposal_hash = :proposal_hash
    AND generation = :generation AND effect = :effect
    AND state IN ('pending', 'granted', 'denied');

-- name: waiting_of_host
SELECT count(*) AS waiting FROM approvals
WHERE scope = :scope AND host = :host AND state IN ('pending', 'granted');

-- name: find
SELECT a.*, e.server, e.tool FROM approvals AS a
JOIN evaluations AS e ON e.evaluation_id = a.approval_id
WHERE a.approval_id = :approval_id;

-- name: waiting
SELECT a.*, e.server, e.tool FROM approvals AS a
JOIN evaluations AS e ON e.evaluation_id = a.approval_id
WHERE a.state IN ('pending', 'granted')
ORDER BY a.scope, a.host, a.approval_id LIMIT :max_rows;

-- name: newest
SELECT a.*, e.server, e.tool FROM approvals AS a
JOIN evaluations AS e ON e.evaluation_id = a.approval_id
WHERE a.approval_id > ''
ORDER BY a.approval_id DESC LIMIT :max_rows;

-- name: lapsed
SELECT * FROM approvals WHERE state = 'granted' AND expires_at <= :now_ms
ORDER BY expires_at LIMIT 64;

-- name: orphaned
SELECT a.* FROM approvals AS a JOIN leases AS l ON l.lease_id = a.lease_id
WHERE a.state IN ('pending', 'granted') AND l.state <> 'live'
ORDER BY a.scope, a.host, a.approval_id LIMIT 64;
