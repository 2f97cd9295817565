-- name: listed
SELECT * FROM reflections
WHERE (:scope IS NULL OR scope = :scope) AND (:host IS NULL OR host = :host)
    AND (:result IS NULL OR result = :result)
ORDER BY cycle_id DESC LIMIT :max_rows;

-- name: one
SELECT * FROM reflections WHERE cycle_id = :cycle_id;

-- name: hosts
SELECT * FROM reflection_hosts
WHERE (:scope IS NULL OR scope = :scope) AND (:host IS NULL OR host = :host)
ORDER BY scope, host LIMIT :max_rows;
