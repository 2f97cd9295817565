-- name: unlinked
SELECT 'parked' AS why, scope, host, outcome_id, evaluation_id, outcome, parked_at AS since
FROM parked_outcomes
WHERE (:scope IS NULL OR scope = :scope) AND (:host IS NULL OR host = :host)
UNION ALL
SELECT reason, scope, host, outcome_id, evaluation_id, outcome, reported_at
FROM listed_outcomes
WHERE (:scope IS NULL OR scope = :scope) AND (:host IS NULL OR host = :host)
ORDER BY since DESC, outcome_id DESC LIMIT :max_rows;
