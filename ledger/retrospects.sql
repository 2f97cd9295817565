CREATE INDEX outcomes_of_host ON outcomes (scope, host) WHERE corrected_by IS NULL;
CREATE INDEX evaluations_held ON evaluations (scope, host, evaluation_id) WHERE status = 'held';

-- name: evidence
SELECT evidence_id, trust, source, visibility, observed_at, resource_keys FROM evidence
WHERE scope = :scope AND host = :host AND erased = 0 ORDER BY sequence DESC LIMIT :max_rows;

-- name: runs
SELECT o.outcome_id, e.server, e.tool, e.effect, e.fingerprint, o.status, o.failure_mode,
       e.failure_mode AS forecast, o.expected, o.verified, e.cited, e.evaluation_id
FROM outcomes AS o CROSS JOIN evaluations AS e ON e.evaluation_id = o.evaluation_id
WHERE o.scope = :scope AND o.host = :host AND o.corrected_by IS NULL AND o.status <> 'unused'
ORDER BY o.rowid DESC LIMIT :max_rows;

-- name: held
SELECT evaluation_id, server, tool, fingerprint, reasons, cited FROM evaluations
WHERE scope = :scope AND host = :host AND status = 'held'
ORDER BY evaluation_id DESC LIMIT :max_rows;

-- name: rests_on
SELECT evidence_ids FROM items WHERE item_id = :item_id;
