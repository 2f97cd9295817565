CREATE TABLE outcomes (
    outcome_id TEXT PRIMARY KEY,
    evaluation_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('succeeded', 'failed', 'cancelled', 'unknown', 'unused')),
    failure_mode TEXT,
    receipt_kind TEXT,
    receipt_digest TEXT,
    expected INTEGER NOT NULL CHECK (expected IN (0, 1)),
    verified INTEGER NOT NULL CHECK (verified IN (0, 1)),
    duration_ms INTEGER,
    redacted INTEGER NOT NULL CHECK (redacted IN (0, 1)),
    reported_by TEXT NOT NULL CHECK (reported_by IN ('host', 'sidecar')),
    finished_at INTEGER NOT NULL,
    linked_at INTEGER NOT NULL,
    corrected_by TEXT
) STRICT;
CREATE UNIQUE INDEX outcomes_current ON outcomes (evaluation_id) WHERE corrected_by IS NULL;
CREATE INDEX outcomes_failed ON outcomes (scope, fingerprint, outcome_id)
    WHERE status = 'failed' AND corrected_by IS NULL;
CREATE INDEX outcomes_unverified ON outcomes (scope, receipt_digest)
    WHERE expected = 1 AND verified = 0;
CREATE INDEX outcomes_verified ON outcomes (scope, receipt_digest) WHERE verified = 1;

-- How often each mode was seen; the empty mode is success. A key has 16 modes at most, what comes
-- beyond is counted as 'other'.
CREATE TABLE outcome_counts (
    scope TEXT NOT NULL,
    level TEXT NOT NULL CHECK (level IN ('action', 'tool', 'effect')),
    key TEXT NOT NULL,
    mode TEXT NOT NULL,
    seen INTEGER NOT NULL CHECK (seen > 0),
    PRIMARY KEY (scope, level, key, mode)
) STRICT, WITHOUT ROWID;

CREATE TABLE parked_outcomes (
    evaluation_id TEXT NOT NULL,
    outcome_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    outcome TEXT NOT NULL,
    parked_at INTEGER NOT NULL,
    PRIMARY KEY (evaluation_id, outcome_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE listed_outcomes (
    outcome_id TEXT NOT NULL,
    evaluation_id TEXT NOT NULL,
    reason TEXT NOT NULL CHECK (reason IN ('not_a_call', 'not_passed', 'other_proposal', 'repeated')),
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    outcome TEXT NOT NULL,
    reported_at INTEGER NOT NULL,
    PRIMARY KEY (outcome_id, evaluation_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE audits (
    audit_id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    receipt TEXT NOT NULL,
    recorded_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- name: correct
UPDATE outcomes SET corrected_by = :outcome_id WHERE outcome_id = :corrects;

-- name: link
INSERT INTO outcomes (outcome_id, evaluation_id, scope, host, fingerprint, status, failure_mode,
                      receipt_kind, receipt_digest, expected, verified, duration_ms, redacted,
                      reported_by, finished_at, linked_at)
SELECT :outcome_id, e.evaluation_id, e.scope, e.host, e.fingerprint, :status, :failure_mode,
       :receipt_kind, :receipt_digest,
       coalesce(e.expected_receipt_kind = :receipt_kind
                AND coalesce(e.expected_receipt_digest, :receipt_digest) = :receipt_digest, 0),
       :verified, :duration_ms, :redacted, :reported_by, :finished_at, :at_ms
FROM evaluations AS e WHERE e.evaluation_id = :evaluation_id;

-- name: current
SELECT outcome_id, reported_by FROM outcomes
WHERE evaluation_id = :evaluation_id AND corrected_by IS NULL;

-- name: evaluations_of
SELECT evaluation_id FROM outcomes WHERE outcome_id = :outcome_id
UNION ALL
SELECT evaluation_id FROM listed_outcomes WHERE outcome_id = :outcome_id
LIMIT 64;

-- name: recent_failures
SELECT outcome_id, failure_mode, finished_at FROM outcomes
WHERE scope = :scope AND fingerprint = :fingerprint AND status = 'failed' AND corrected_by IS NULL
ORDER BY outcome_id DESC LIMIT 8;

-- name: counts
SELECT level, key, mode, seen FROM outcome_counts
WHERE scope = :scope AND level = 'action' AND key = :fingerprint
UNION ALL
SELECT level, key, mode, seen FROM outcome_counts
WHERE scope = :scope AND level = 'tool' AND key = json_array(:server, :tool)
UNION ALL
SELECT level, key, mode, seen FROM outcome_counts
WHERE scope = :scope AND level = 'effect';

-- name: counted_as
SELECT scope, fingerprint, json_array(server, tool) AS tool, effect FROM evaluations
WHERE evaluation_id = :evaluation_id;

-- name: count
INSERT INTO outcome_counts (scope, level, key, mode, seen)
SELECT :scope, :level, :key,
       CASE WHEN :mode = ''
                 OR EXISTS (SELECT 1 FROM outcome_counts
                            WHERE scope = :scope AND level = :level AND key = :key AND mode = :mode)
                 OR (SELECT count(*) FROM outcome_counts
                     WHERE scope = :scope AND level = :level AND key = :key) < 16
            THEN :mode ELSE 'other' END,
       1
WHERE true
ON CONFLICT (scope, level, key, mode) DO UPDATE SET seen = seen + 1;

-- name: unverified
SELECT outcome_id FROM outcomes
WHERE scope = :scope AND receipt_digest = :digest AND expected = 1 AND verified = 0 LIMIT 64;

-- name: verified
SELECT outcome_id FROM outcomes
WHERE scope = :scope AND receipt_digest = :digest AND verified = 1;

-- name: unverify
UPDATE outcomes SET verified = 0 WHERE outcome_id = :outcome_id;

-- name: verify
UPDATE outcomes SET verified = 1 WHERE outcome_id = :outcome_id;

-- name: park
INSERT INTO parked_outcomes (evaluation_id, outcome_id, scope, host, outcome, parked_at)
VALUES (:evaluation_id, :outcome_id, :scope, :host, :outcome, :at_ms);

-- name: parked
SELECT outcome_id FROM parked_outcomes
WHERE evaluation_id = :evaluation_id AND outcome_id = :outcome_id;

-- name: unpark
DELETE FROM parked_outcomes WHERE evaluation_id = :evaluation_id AND outcome_id = :outcome_id;

-- name: linkable
SELECT p.outcome, p.scope, p.host FROM parked_outcomes AS p
JOIN evaluations AS e
    ON e.evaluation_id = p.evaluation_id AND e.scope = p.scope AND e.host = p.host
LIMIT 64;

-- name: list
INSERT INTO listed_outcomes (outcome_id, evaluation_id, reason, scope, host, outcome, reported_at)
VALUES (:outcome_id, :evaluation_id, :reason, :scope, :host, :outcome, :at_ms);

-- name: audit
INSERT INTO audits (audit_id, scope, host, receipt, recorded_at)
VALUES (:audit_id, :scope, :host, :receipt, :at_ms);

-- name: audited
SELECT audit_id FROM audits WHERE audit_id = :audit_id;
