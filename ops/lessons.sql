-- name: listed
SELECT l.*, p.content FROM lessons AS l
LEFT JOIN payloads AS p ON p.scope = l.scope AND p.id = (
    SELECT r.evaluation_id FROM lesson_runs AS r
    WHERE r.scope = l.scope AND r.fingerprint = l.fingerprint ORDER BY r.outcome_id DESC LIMIT 1
)
WHERE (:scope IS NULL OR l.scope = :scope) AND (:state IS NULL OR l.state = :state)
ORDER BY l.changed_at DESC, l.scope, l.fingerprint LIMIT :max_rows;

-- name: runs
SELECT outcome_id, evaluation_id, evidence_id FROM lesson_runs
WHERE scope = :scope AND fingerprint = :fingerprint ORDER BY outcome_id DESC LIMIT 64;
