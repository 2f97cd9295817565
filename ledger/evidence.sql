CREATE TABLE evidence (
    sequence INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    evidence_id TEXT NOT NULL,
    host TEXT NOT NULL,
    key TEXT NOT NULL,
    generation INTEGER NOT NULL,
    source TEXT NOT NULL,
    trust TEXT NOT NULL,
    domain TEXT NOT NULL CHECK (domain IN ('inner', 'outer')),
    modality TEXT NOT NULL,
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    visibility TEXT NOT NULL CHECK (visibility IN ('local_only', 'shareable')),
    observed_at INTEGER NOT NULL,
    evidence_ids TEXT NOT NULL,
    resource_keys TEXT NOT NULL,
    commitment TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    erased INTEGER NOT NULL DEFAULT 0 CHECK (erased IN (0, 1)),
    UNIQUE (scope, evidence_id),
    UNIQUE (scope, host, key)
) STRICT;
CREATE INDEX evidence_of_host ON evidence (scope, host, sequence);

-- name: record
INSERT INTO evidence (scope, evidence_id, host, key, generation, source, trust, domain, modality,
                      confidence, visibility, observed_at, evidence_ids, resource_keys, commitment,
                      size_bytes)
VALUES (:scope, :evidence_id, :host, :key, :generation, :source, :trust, :domain, :modality,
        :confidence, :visibility, :observed_at, :evidence_ids, :resource_keys, :commitment,
        :size_bytes);

-- name: known
SELECT evidence_id, true AS by_key FROM evidence
WHERE scope = :scope AND host = :host AND key = :key
UNION ALL
SELECT evidence_id, false AS by_key FROM evidence
WHERE scope = :scope AND evidence_id = :evidence_id
LIMIT 1;

-- name: find
SELECT evidence_id, generation, trust, observed_at, erased, resource_keys FROM evidence
WHERE scope = :scope AND evidence_id = :evidence_id;

-- name: supports
SELECT e.evidence_id, e.trust, e.visibility, e.erased FROM json_each(:evidence_ids) AS named
JOIN evidence AS e ON e.scope = :scope AND e.evidence_id = named.value;

-- name: last_of_host
SELECT evidence_id, observed_at FROM evidence WHERE scope = :scope AND host = :host
ORDER BY sequence DESC LIMIT 1;

-- name: attested
SELECT e.evidence_id FROM payloads AS p
JOIN evidence AS e ON e.scope = p.scope AND e.evidence_id = p.id
WHERE p.scope = :scope AND p.detail_digest = :digest AND e.trust <> 'model' AND e.erased = 0
LIMIT 1;

-- name: lacking
SELECT e.* FROM evidence AS e
WHERE e.scope = :scope AND e.evidence_id = :evidence_id AND e.erased = 0
  AND NOT EXISTS (SELECT 1 FROM payloads AS p WHERE p.scope = e.scope AND p.id = e.evidence_id);

-- name: all_lacking
SELECT e.sequence, e.scope, e.evidence_id FROM evidence AS e
WHERE e.sequence > (SELECT max(sequence) FROM evidence) - :newest AND e.erased = 0
  AND NOT EXISTS (SELECT 1 FROM payloads AS p WHERE p.scope = e.scope AND p.id = e.evidence_id);

-- name: commit_anew
UPDATE evidence SET commitment = :commitment WHERE scope = :scope AND evidence_id = :evidence_id;
