-- name: outcome
SELECT outcome_id, status, verified FROM outcomes
WHERE evaluation_id = :evaluation_id AND corrected_by IS NULL;

-- name: cycle
SELECT cycle_id, result FROM reflections
WHERE idle = 1 AND result = 'proposed' AND findings LIKE '%failed_again:%'
    AND claimed_at >= (SELECT linked_at FROM outcomes WHERE outcome_id = :outcome_id)
ORDER BY claim LIMIT 1;

-- name: recommended
SELECT p.content FROM items AS i JOIN payloads AS p ON p.scope = i.scope AND p.id = i.item_id
WHERE i.cycle_id = :cycle_id AND i.kind = 'recommendation' ORDER BY i.place;

-- name: acts
SELECT (SELECT count(*) FROM evaluations AS e WHERE e.decided_at BETWEEN r.claimed_at AND r.ended_at)
     + (SELECT count(*) FROM outcomes AS o WHERE o.linked_at BETWEEN r.claimed_at AND r.ended_at
            AND o.linked_at > r.claimed_at)
     + (SELECT count(*) FROM approvals AS a WHERE a.requested_at BETWEEN r.claimed_at AND r.ended_at)
    AS acts
FROM reflections AS r WHERE r.cycle_id = :cycle_id;
