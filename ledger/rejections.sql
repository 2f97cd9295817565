CREATE TABLE rejections (
    place INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    proposal_id TEXT NOT NULL UNIQUE,
    host TEXT NOT NULL,
    cycle_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    code TEXT NOT NULL,
    field TEXT NOT NULL,
    "limit" TEXT NOT NULL,
    evidence_ids TEXT NOT NULL,
    statement_key TEXT NOT NULL,
    commitment TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    rejected_at INTEGER NOT NULL,
    erased INTEGER NOT NULL DEFAULT 0 CHECK (erased IN (0, 1)),
    UNIQUE (scope, statement_key, code)
) STRICT;

-- name: reject
INSERT INTO rejections (scope, proposal_id, host, cycle_id, kind, code, field, "limit",
                        evidence_ids, statement_key, commitment, size_bytes, rejected_at)
VALUES (:scope, :proposal_id, :host, :cycle_id, :kind, :code, :field, :limit, :evidence_ids,
        :statement_key, :commitment, :size_bytes, :at_ms);

-- name: known
SELECT proposal_id FROM rejections
WHERE scope = :scope AND statement_key = :statement_key AND code = :code;

-- name: listed
SELECT r.*, p.content FROM rejections AS r
LEFT JOIN payloads AS p ON p.scope = r.scope AND p.id = r.proposal_id
WHERE r.place < :before AND (:scope IS NULL OR r.scope = :scope)
    AND (:kind IS NULL OR r.kind = :kind)
ORDER BY r.place DESC LIMIT :max_rows;

-- name: shown
SELECT r.*, p.content FROM rejections AS r
LEFT JOIN payloads AS p ON p.scope = r.scope AND p.id = r.proposal_id
WHERE r.proposal_id = :proposal_id;
