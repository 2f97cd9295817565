CREATE TABLE payloads (
    payload INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    id TEXT NOT NULL,
    salt BLOB NOT NULL,
    content BLOB NOT NULL,
    detail_digest TEXT,
    told INTEGER CHECK (told IN (0, 1)),
    excerpt BLOB,
    words TEXT,
    UNIQUE (scope, id)
) STRICT;
CREATE INDEX payloads_by_detail ON payloads (scope, detail_digest) WHERE detail_digest IS NOT NULL;

-- Observations only: what a user or an operator told, and all else.
CREATE INDEX payloads_by_excerpt ON payloads (scope, told, payload) WHERE told IS NOT NULL;

-- Texts are found by their words; the triggers keep the index as whole as the table, whoever
-- writes it. It has no text of its own and no ranking, so it needs neither sizes nor columns.
CREATE VIRTUAL TABLE payload_words USING fts5(
    words, content = 'payloads', content_rowid = 'payload', columnsize = 0, detail = 'none',
    tokenize = 'porter unicode61'
);
CREATE TRIGGER payloads_indexed AFTER INSERT ON payloads WHEN new.words IS NOT NULL BEGIN
    INSERT INTO payload_words (rowid, words) VALUES (new.payload, new.words);
END;
CREATE TRIGGER payloads_unindexed AFTER DELETE ON payloads WHEN old.words IS NOT NULL BEGIN
    INSERT INTO payload_words (payload_words, rowid, words)
    VALUES ('delete', old.payload, old.words);
END;

-- name: keep
INSERT INTO payloads (scope, id, salt, content, detail_digest, told, excerpt, words)
VALUES (:scope, :id, :salt, :content, :detail_digest, :told, :excerpt, :words);

-- name: optimize_words
INSERT INTO payload_words (payload_words) VALUES ('optimize');

-- name: newest_excerpts
SELECT e.sequence, p.id, p.told, p.excerpt, e.resource_keys
FROM payloads AS p LEFT JOIN evidence AS e ON e.scope = p.scope AND e.evidence_id = p.id
WHERE p.payload IN (
    SELECT payload FROM payloads WHERE scope = :scope AND told = 1 ORDER BY payload DESC LIMIT 8
)
UNION ALL
SELECT e.sequence, p.id, p.told, p.excerpt, e.resource_keys
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
  AND NOT EXISTS (SELECT 1 FROM items AS i WHERE i.item_id = p.id)
  AND NOT EXISTS (SELECT 1 FROM rejections AS r WHERE r.proposal_id = p.id)
  AND NOT EXISTS (SELECT 1 FROM evolution_proposals AS e WHERE e.proposal_id = p.id)
  AND NOT EXISTS (SELECT 1 FROM identities AS i WHERE i.identity_id = p.id)
LIMIT 1;

-- name: kept_after
SELECT * FROM payloads WHERE payload > :payload ORDER BY payload LIMIT :max_rows;

-- name: commitment
SELECT commitment FROM evidence WHERE scope = :scope AND evidence_id = :id AND erased = 0
UNION ALL
SELECT commitment FROM evaluations WHERE evaluation_id = :id AND scope = :scope AND erased = 0
UNION ALL
SELECT commitment FROM items WHERE item_id = :id AND scope = :scope AND erased = 0
UNION ALL
SELECT commitment FROM rejections WHERE proposal_id = :id AND scope = :scope AND erased = 0
UNION ALL
SELECT commitment FROM evolution_proposals
WHERE proposal_id = :id AND scope = :scope AND erased = 0
UNION ALL
SELECT commitment FROM identities WHERE identity_id = :id AND scope = :scope
LIMIT 1;

-- name: copy
INSERT INTO payloads (payload, scope, id, salt, content, detail_digest, told, excerpt, words)
VALUES (CASE WHEN NOT EXISTS (SELECT 1 FROM payloads WHERE payload = :payload) THEN :payload END,
        :scope, :id, :salt, :content, :detail_digest, :told, :excerpt, :words)
ON CONFLICT (scope, id) DO NOTHING;

-- name: lacking
SELECT (SELECT count(*) FROM evidence AS e WHERE e.erased = 0 AND NOT EXISTS
            (SELECT 1 FROM payloads AS p WHERE p.scope = e.scope AND p.id = e.evidence_id))
     + (SELECT count(*) FROM evaluations AS e WHERE e.erased = 0 AND NOT EXISTS
            (SELECT 1 FROM payloads AS p WHERE p.scope = e.scope AND p.id = e.evaluation_id))
     + (SELECT count(*) FROM items AS i WHERE i.erased = 0 AND NOT EXISTS
            (SELECT 1 FROM payloads AS p WHERE p.scope = i.scope AND p.id = i.item_id))
     + (SELECT count(*) FROM rejections AS r WHERE r.erased = 0 AND NOT EXISTS
            (SELECT 1 FROM payloads AS p WHERE p.scope = r.scope AND p.id = r.proposal_id))
     + (SELECT count(*) FROM evolution_proposals AS e WHERE e.erased = 0 AND NOT EXISTS
            (SELECT 1 FROM payloads AS p WHERE p.scope = e.scope AND p.id = e.proposal_id))
     + (SELECT count(*) FROM identities AS i WHERE NOT EXISTS
            (SELECT 1 FROM payloads AS p WHERE p.scope = i.scope AND p.id = i.identity_id))
    AS lacking;

-- name: detail
SELECT detail_digest FROM payloads WHERE scope = :scope AND id = :id;
