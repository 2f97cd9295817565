-- name: newest_lease
SELECT generation, state, heard_at FROM leases
WHERE scope = :scope AND host = :host ORDER BY generation DESC LIMIT 1;
