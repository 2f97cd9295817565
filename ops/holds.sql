-- name: open
SELECT h.*, e.server, e.tool, p.content FROM holds AS h
LEFT JOIN evaluations AS e ON e.evaluation_id = h.evaluation_id
LEFT JOIN payloads AS p ON p.scope = h.scope AND p.id = h.evaluation_id
WHERE h.released_at IS NULL AND (:scope IS NULL OR h.scope = :scope)
    AND (:reason IS NULL OR h.reason = :reason)
    AND h.hold_id < coalesce(:before, '~')
ORDER BY h.hold_id DESC LIMIT :max_rows;

-- name: reasons
SELECT reason, count(*) AS holds FROM holds
WHERE released_at IS NULL AND (:scope IS NULL OR scope = :scope)
GROUP BY reason;

-- name: one
SELECT h.*, e.server, e.tool, p.content FROM holds AS h
LEFT JOIN evaluations AS e ON e.evaluation_id = h.evaluation_id
LEFT JOIN payloads AS p ON p.scope = h.scope AND p.id = h.evaluation_id
WHERE h.hold_id = :hold_id;
