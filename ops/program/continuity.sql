-- name: evidence
SELECT evidence_id, key FROM evidence WHERE scope = :scope AND host = :host;

-- name: verdicts
SELECT evaluation_id, call_id, status FROM evaluations WHERE scope = :scope AND host = :host;

-- name: outcomes
SELECT o.evaluation_id FROM evaluations AS e
JOIN outcomes AS o ON o.evaluation_id = e.evaluation_id AND o.corrected_by IS NULL
WHERE e.scope = :scope AND e.host = :host;

-- name: audit
SELECT audit_id FROM audits WHERE audit_id = :audit_id;
