-- name: verdict
SELECT status FROM evaluations WHERE evaluation_id = :evaluation_id;
