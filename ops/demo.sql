-- name: outcome
SELECT outcome_id, status, verified FROM outcomes
WHERE evaluation_id = :evaluation_id AND corrected_by IS NULL;
