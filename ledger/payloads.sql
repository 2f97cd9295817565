CREATE TABLE payloads (
    payload INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    id TEXT NOT NULL,
    salt BLOB NOT NULL,
    content BLOB NOT NULL,
    detail_digest TEXT,
    told INTEGER CHECK (told IN (0, 1)),
    excerpt BLOB,
    UNIQUE (scope, id)
) STRICT;
CREATE INDEX payloads_by_detail ON payloads (scope, detail_digest) WHERE detail_digest IS NOT NULL;

-- Observations only: what a user or an operator told, and all else.
CREATE INDEX payloads_by_excerpt ON payloads (scope, told, payload) WHERE told IS NOT NULL;

-- name: keep
INSERT INTO payloads (scope, id, salt, content, detail_digest, told, excerpt)
VALUES (:scope, :id, :salt, :content, :detail_digest, :told, :excerpt);

-- name: newest_excerpts
SELECT p.payload, p.id, p.told, p.excerpt, e.resource_keys
FROM payloads AS p LEFT JOIN evidence AS e ON e.scope = p.scope AND e.evidence_id = p.id
WHERE p.payload IN (
    SELECT payload FROM payloads WHERE scope = :scope AND told = 1 ORDER BY payload DESC LIMIT 8
)
UNION ALL
SELECT p.payload, p.id, p.told, p.excerpt, e.resource_keys
FROM payloads AS p LEFT JOIN evidence AS e ON e.scope = p.scope AND e.evidence_id = p.id
WHERE p.payload IN (
    SELECT payload FROM payloads WHERE scope = :scope AND told = 0 ORDER BY payload DESC LIMIT 32
);

-- name: find
SELECT salt, content FROM payloads WHERE scope = :scope AND id = :id;

-- name: found
SELECT p.scope, p.id, p.salt, p.content FROM json_each(:wanted) AS w
JOIN payloads AS p
    ON p.scope = json_extract(w.value, '$[0]') AND p.id = json_extract(w.value, '$[1]');

-- name: stray
SELECT p.scope, p.id FROM payloads AS p
WHERE NOT EXISTS (SELECT 1 FROM evidence AS e WHERE e.scope = p.scope AND e.evidence_id = p.id)
  AND NOT EXISTS (SELECT 1 FROM evaluations AS e WHERE e.evaluation_id = p.id)
LIMIT 1;

-- name: kept_after
SELECT * FROM payloads WHERE payload > :payload ORDER BY payload LIMIT :max_rows;

-- name: commitment
SELECT commitment FROM evidence WHERE scope = :scope AND evidence_id = :id AND erased = 0
UNION ALL
SELECT commitment FROM evaluations WHERE evaluation_id = :id AND scope = :scope AND erased = 0
LIMIT 1;

-- name: copy
INSERT INTO payloads (payload, scope, id, salt, content, detail_digest, told, excerpt)
VALUES (CASE WHEN NOT EXISTS (SELECT 1 FROM payloads WHERE payload = :payload) THEN :payload END,
        :scope, :id, :salt, :content, :detail_digest, :told, :excerpt)
ON CONFLICT (scope, id) DO NOTHING;

-- name: lacking
SELECT (SELECT count(*) FROM evidence AS e WHERE e.erased = 0 AND NOT EXISTS
            (SELECT 1 FROM payloads AS p WHERE p.scope = e.scope AND p.id = e.evidence_id))
     + (SELECT count(*) FROM evaluations AS e WHERE e.erased = 0 AND NOT EXISTS
            (SELECT 1 FROM payloads AS p WHERE p.scope = e.scope AND p.id = e.evaluation_id))
    AS lacking;

-- name: detail
SELECT detail_digest FROM payloads WHERE scope = :scope AND id = :id;
