-- The scopes are those that a lease began in: nothing else was observed in any.

-- name: one
SELECT e.*, p.content FROM evidence AS e
LEFT JOIN payloads AS p ON p.scope = e.scope AND p.id = e.evidence_id
WHERE e.scope IN (SELECT DISTINCT scope FROM leases WHERE lease_id > '')
    AND e.evidence_id = :evidence_id;
