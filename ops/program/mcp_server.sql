-- name: passes
SELECT count(*) AS passes FROM evaluations
WHERE scope = :scope AND host = :host AND status = 'passed';
