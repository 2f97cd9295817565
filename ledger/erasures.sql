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

-- name: erase_item
UPDATE items SET erased = 1 WHERE item_id = :id AND scope = :scope;

-- name: erase_rejection
UPDATE rejections SET erased = 1 WHERE proposal_id = :id AND scope = :scope;

-- name: erase_change
UPDATE evolution_proposals SET erased = 1 WHERE proposal_id = :id AND scope = :scope;

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

-- name: whole_derived
SELECT host, state FROM items WHERE item_id = :id AND scope = :scope AND erased = 0
UNION ALL
SELECT host, NULL FROM rejections WHERE proposal_id = :id AND scope = :scope AND erased = 0
UNION ALL
SELECT host, NULL FROM evolution_proposals
WHERE proposal_id = :id AND scope = :scope AND erased = 0
LIMIT 1;

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

-- name: items_of
SELECT place, item_id AS id FROM items
WHERE place > :after AND scope = :scope AND (:host IS NULL OR host = :host)
  AND admitted_at <= :began_at AND erased = 0
ORDER BY place LIMIT :max_rows;

-- name: rejections_of
SELECT place, proposal_id AS id FROM rejections
WHERE place > :after AND +scope = :scope AND (:host IS NULL OR host = :host)
  AND rejected_at <= :began_at AND erased = 0
ORDER BY place LIMIT :max_rows;

-- name: changes_of
SELECT place, proposal_id AS id FROM evolution_proposals
WHERE place > :after AND +scope = :scope AND (:host IS NULL OR host = :host)
  AND proposed_at <= :began_at AND erased = 0
ORDER BY place LIMIT :max_rows;

-- name: naming
SELECT p.payload AS place, p.id, p.told IS NULL AND p.scope = :scope AND EXISTS (
    SELECT 1 FROM json_each(:evidence_ids) AS named WHERE instr(p.content, named.value)
) AS names
FROM payloads AS p WHERE p.payload > :after ORDER BY p.payload LIMIT :max_rows;

-- name: is_known
SELECT host FROM leases WHERE scope = :scope AND (:host IS NULL OR host = :host)
UNION ALL
SELECT host FROM inbox_watermarks WHERE scope = :scope AND (:host IS NULL OR host = :host)
UNION ALL
SELECT host FROM inbox_beyond WHERE scope = :scope AND (:host IS NULL OR host = :host)
LIMIT 1;

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
                AND e.scope = json_extract(asked.value, '$[0]') AND e.erased = 1)
   OR EXISTS (SELECT 1 FROM items AS i
              WHERE i.item_id = json_extract(asked.value, '$[1]')
                AND i.scope = json_extract(asked.value, '$[0]') AND i.erased = 1)
   OR EXISTS (SELECT 1 FROM rejections AS r
              WHERE r.proposal_id = json_extract(asked.value, '$[1]')
                AND r.scope = json_extract(asked.value, '$[0]') AND r.erased = 1)
   OR EXISTS (SELECT 1 FROM evolution_proposals AS e
              WHERE e.proposal_id = json_extract(asked.value, '$[1]')
                AND e.scope = json_extract(asked.value, '$[0]') AND e.erased = 1);

-- name: kept
SELECT payload AS place, scope, id FROM payloads
WHERE payload > :after ORDER BY payload LIMIT :max_rows;
