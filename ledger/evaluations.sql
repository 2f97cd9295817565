CREATE TABLE evaluations (
    evaluation_id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    call_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('tool', 'plan', 'recommendation')),
    proposal_hash TEXT NOT NULL,
    lease_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('passed', 'held', 'degraded')),
    effect TEXT NOT NULL,
    reversibility TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    cited TEXT NOT NULL,
    reasons TEXT NOT NULL,
    failure_mode TEXT NOT NULL,
    failure_probability REAL NOT NULL,
    material INTEGER NOT NULL CHECK (material IN (0, 1)),
    mitigated INTEGER NOT NULL CHECK (mitigated IN (0, 1)),
    expected_receipt_kind TEXT,
    expected_receipt_digest TEXT,
    decided_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    commitment TEXT NOT NULL,
    open INTEGER NOT NULL CHECK (open IN (0, 1)),
    erased INTEGER NOT NULL DEFAULT 0 CHECK (erased IN (0, 1)),
    UNIQUE (scope, host, call_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX evaluations_open ON evaluations (scope, host, evaluation_id) WHERE open = 1;
CREATE INDEX evaluations_expiring ON evaluations (expires_at) WHERE open = 1;

-- name: record
INSERT INTO evaluations (evaluation_id, scope, host, call_id, kind, proposal_hash, lease_id,
                         generation, status, effect, reversibility, server, tool, fingerprint, cited, reasons,
                         failure_mode, failure_probability, material, mitigated,
                         expected_receipt_kind, expected_receipt_digest, decided_at, expires_at,
                         commitment, open)
VALUES (:evaluation_id, :scope, :host, :call_id, :kind, :proposal_hash, :lease_id, :generation,
        :status, :effect, :reversibility, :server, :tool, :fingerprint, :cited, :reasons,
        :failure_mode, :failure_probability, :material, :mitigated,
        :expected_receipt_kind, :expected_receipt_digest, :at_ms, :expires_at,
        :commitment, :open);

-- name: close
UPDATE evaluations SET open = 0 WHERE evaluation_id = :evaluation_id;

-- name: by_call
SELECT evaluation_id, proposal_hash FROM evaluations
WHERE scope = :scope AND host = :host AND call_id = :call_id;

-- name: plan
SELECT status FROM evaluations
WHERE scope = :scope AND host = :host AND call_id = :call_id AND kind = 'plan';

-- name: find
SELECT * FROM evaluations
WHERE evaluation_id = :evaluation_id AND scope = :scope AND host = :host;

-- name: pending
SELECT json_group_array(evaluation_id) AS evaluation_ids FROM (
    SELECT evaluation_id FROM evaluations
    WHERE scope = :scope AND host = :host AND open = 1
    ORDER BY evaluation_id DESC LIMIT 16
);

-- name: abandoned
SELECT e.evaluation_id, e.scope, e.host, e.proposal_hash FROM evaluations AS e
JOIN leases AS l ON l.lease_id = e.lease_id
WHERE e.open = 1 AND e.expires_at <= :now_ms AND l.state <> 'live'
ORDER BY e.expires_at LIMIT 64;

-- name: stored
SELECT e.evaluation_id, p.content FROM evaluations AS e
LEFT JOIN payloads AS p ON p.scope = e.scope AND p.id = e.evaluation_id
WHERE e.evaluation_id =
    coalesce(:evaluation_id, (SELECT max(newest.evaluation_id) FROM evaluations AS newest));
