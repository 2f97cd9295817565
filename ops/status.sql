-- Counts over whole tables: asked by an operator, never while a verdict waits.

-- name: counts
SELECT
    (SELECT coalesce(max(sequence), 0) FROM journal) AS journal,
    (SELECT count(*) FROM leases WHERE state = 'live') AS live_leases,
    (SELECT count(*) FROM evidence) AS evidence,
    (SELECT count(*) FROM evaluations WHERE status = 'passed') AS passed,
    (SELECT count(*) FROM evaluations WHERE status = 'held') AS held,
    (SELECT count(*) FROM evaluations WHERE open = 1) AS awaiting_outcome,
    (SELECT count(*) FROM holds WHERE released_at IS NULL) AS open_holds,
    (SELECT count(*) FROM approvals WHERE state = 'pending') AS pending_approvals,
    (SELECT count(*) FROM outcomes WHERE corrected_by IS NULL) AS outcomes,
    (SELECT count(*) FROM parked_outcomes) AS parked_outcomes,
    (SELECT count(*) FROM listed_outcomes) AS listed_outcomes,
    (SELECT count(*) FROM audits) AS audits,
    (SELECT count(*) FROM lost_messages) AS lost_messages,
    (SELECT count(*) FROM reflections) AS reflections,
    (SELECT count(*) FROM reflection_hosts WHERE failures > 0) AS hosts_with_failed_reflections;

-- name: stopped
SELECT stopped_at AS since, stopped_by AS by FROM stops WHERE resumed_at IS NULL;

-- name: standing
-- The wider condition is the one of an index.
SELECT
    (SELECT coalesce(max(sequence), 0) FROM journal) AS journal,
    (SELECT count(*) FROM approvals
     WHERE state IN ('pending', 'granted') AND state = 'pending') AS pending_approvals,
    (SELECT stopped_at FROM stops WHERE resumed_at IS NULL) AS stopped_at,
    (SELECT stopped_by FROM stops WHERE resumed_at IS NULL) AS stopped_by;
