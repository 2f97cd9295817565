-- Of the ledger. Pages are cut by the key, so that the last costs what the first does.

-- name: page
SELECT evaluation_id, scope, host, kind, status, effect, server, tool, reasons, decided_at
FROM evaluations
WHERE evaluation_id < coalesce(:before, '~') AND (:status IS NULL OR status = :status)
ORDER BY evaluation_id DESC LIMIT :max_rows;

-- name: outcome
SELECT status, failure_mode, verified, reported_by, finished_at FROM outcomes
WHERE evaluation_id = :evaluation_id AND corrected_by IS NULL;
