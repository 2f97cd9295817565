-- Asked at every scrape: each count comes from an index or a table of what is open now.

-- name: open
SELECT
    (SELECT count(DISTINCT hold_id) FROM held_resources) AS open_holds,
    (SELECT count(*) FROM approvals WHERE state IN ('pending', 'granted') AND state = 'pending')
        AS pending_approvals,
    (SELECT count(*) FROM leases WHERE state = 'live') AS live_leases,
    (SELECT count(*) FROM evaluations WHERE open = 1) AS open_evaluations,
    (SELECT count(*) FROM parked_outcomes) AS parked_outcomes,
    (SELECT count(*) FROM erasures WHERE ended_at IS NULL) AS open_erasures,
    (SELECT count(*) FROM stops WHERE resumed_at IS NULL) AS stopped;

-- name: journal
SELECT (SELECT coalesce(max(sequence), 0) FROM journal) AS last,
       (SELECT body FROM journal WHERE sequence = :next) AS waiting;
