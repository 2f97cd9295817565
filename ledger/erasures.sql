CREATE TABLE erasures (
    erasure_id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    host TEXT,
    evidence_ids TEXT NOT NULL,
    through INTEGER NOT NULL,
    payloads INTEGER NOT NULL CHECK (payloads >= 0),
    messages INTEGER NOT NULL CHECK (messages >= 0),
    began_at INTEGER NOT NULL,
    ended_at INTEGER,
    began_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX erasures_open ON erasures (erasure_id) WHERE ended_at IS NULL;

-- name: begin
INSERT INTO erasures (erasure_id, scope, host, evidence_ids, through, payloads, messages, began_at,
                      began_by)
VALUES (:erasure_id, :scope, :host, :evidence_ids,
        coalesce((SELECT max(sequence) FROM evidence), 0), 0, 0, :at_ms, :by);

-- name: erase_evidence
UPDATE evidence SET erased = 1 WHERE scope = :scope AND evidence_id = :id;

-- name: erase_evaluation
UPDATE evaluations SET erased = 1 WHERE evaluation_id = :id AND scope = :scope;

-- name: erase_payload
DELETE FROM payloads WHERE scope = :scope AND id = :id;

-- name: count
UPDATE erasures SET payloads = payloads + 1 WHERE erasure_id = :erasure_id;

-- name: finish
UPDATE erasures SET ended_at = :at_ms, messages = :messages WHERE erasure_id = :erasure_id;

-- name: first_open
SELECT * FROM erasures WHERE ended_at IS NULL ORDER BY erasure_id LIMIT 1;

-- name: newest
SELECT * FROM erasures ORDER BY erasure_id DESC LIMIT :max_rows;

-- name: find
SELECT * FROM erasures WHERE erasure_id = :erasure_id;

-- name: whole_evidence
SELECT host FROM evidence WHERE scope = :scope AND evidence_id = :id AND erased = 0;

-- name: whole_evaluation
SELECT host FROM evaluations WHERE evaluation_id = :id AND scope = :scope AND erased = 0;

-- name: evidence_of
-- By place, a few at a time: by scope (the plus keeps that index out) each few would sort them all.
SELECT sequence AS place, evidence_id AS id FROM evidence
WHERE sequence > :after AND sequence <= :through AND +scope = :scope
  AND (:host IS NULL OR host = :host) AND erased = 0
ORDER BY sequence LIMIT :max_rows;

-- name: evaluations_of
SELECT evaluation_id AS place, evaluation_id AS id FROM evaluations
WHERE evaluation_id > :after AND +scope = :scope AND (:host IS NULL OR host = :host)
  AND decided_at <= :began_at AND erased = 0
ORDER BY evaluation_id LIMIT :max_rows;

-- name: naming
SELECT p.payload AS place, p.id, p.told IS NULL AND p.scope = :scope AND EXISTS (
    SELECT 1 FROM json_each(:evidence_ids) AS named WHERE instr(p.content, named.value)
) AS names
FROM payloads AS p WHERE p.payload > :after ORDER BY p.payload LIMIT :max_rows;

-- name: counts
SELECT (SELECT count(*) FROM evidence
        WHERE scope = :scope AND (:host IS NULL OR host = :host) AND erased = 0) AS observations,
       (SELECT count(*) FROM evaluations
        WHERE scope = :scope AND (:host IS NULL OR host = :host) AND erased = 0) AS evaluations;

-- name: keys_of
SELECT e.evidence_id, e.host, e.key FROM json_each(:evidence_ids) AS named
JOIN evidence AS e ON e.scope = :scope AND e.evidence_id = named.value;

-- name: standing
SELECT e.evidence_id FROM json_each(:evidence_ids) AS named
JOIN evidence AS e ON e.scope = :scope AND e.evidence_id = named.value
WHERE e.erased = 0;

-- name: gone
SELECT json_extract(asked.value, '$[0]') AS scope, json_extract(asked.value, '$[1]') AS id
FROM json_each(:asked) AS asked
WHERE EXISTS (SELECT 1 FROM evidence AS e
              WHERE e.scope = json_extract(asked.value, '$[0]')
                AND e.evidence_id = json_extract(asked.value, '$[1]') AND e.erased = 1)
   OR EXISTS (SELECT 1 FROM evaluations AS e
              WHERE e.evaluation_id = json_extract(asked.value, '$[1]')
                AND e.scope = json_extract(asked.value, '$[0]') AND e.erased = 1);

-- name: kept
SELECT payload AS place, scope, id FROM payloads
WHERE payload > :after ORDER BY payload LIMIT :max_rows;
