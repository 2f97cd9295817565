-- What waits for a word: each count from an index or a table of what is open now, since it is asked
-- again and again while a page is open.

-- name: waiting
-- The wider condition on approvals is the one of an index.
SELECT
    (SELECT count(DISTINCT hold_id) FROM held_resources) AS open_holds,
    (SELECT min(requested_at) FROM approvals
     WHERE state IN ('pending', 'granted') AND state = 'pending') AS asked_at,
    (SELECT count(*) FROM parked_outcomes) AS parked_outcomes,
    (SELECT count(*) FROM lost_messages WHERE closed_at > :since) AS lost_messages,
    (SELECT count(*) FROM reflection_hosts WHERE failures > 0) AS failing_hosts,
    (SELECT count(*) FROM erasures WHERE ended_at IS NULL AND began_at < :before) AS slow_erasures;
