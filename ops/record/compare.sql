-- name: approvals
SELECT * FROM approvals ORDER BY approval_id;

-- name: audits
SELECT * FROM audits ORDER BY audit_id;

-- name: backups
SELECT * FROM backups ORDER BY backup_id;

-- name: contradictions
SELECT * FROM contradictions ORDER BY scope, item_id, other_id;

-- name: erasures
SELECT * FROM erasures ORDER BY erasure_id;

-- name: evaluations
SELECT * FROM evaluations ORDER BY evaluation_id;

-- name: evidence
SELECT * FROM evidence ORDER BY sequence;

-- name: evolution_proposals
SELECT * FROM evolution_proposals ORDER BY place;

-- name: held_resources
SELECT * FROM held_resources ORDER BY resource_key, hold_id;

-- name: holds
SELECT * FROM holds ORDER BY hold_id;

-- name: identities
SELECT * FROM identities ORDER BY scope, version;

-- name: inbox_beyond
SELECT * FROM inbox_beyond ORDER BY scope, host, epoch, number;

-- name: inbox_watermarks
SELECT * FROM inbox_watermarks ORDER BY scope, host, epoch;

-- name: items
SELECT * FROM items ORDER BY place;

-- name: journal
SELECT * FROM journal ORDER BY sequence;

-- name: leases
SELECT * FROM leases ORDER BY lease_id;

-- name: lesson_runs
SELECT * FROM lesson_runs ORDER BY outcome_id;

-- name: lessons
SELECT * FROM lessons ORDER BY scope, fingerprint;

-- name: listed_outcomes
SELECT * FROM listed_outcomes ORDER BY outcome_id, evaluation_id;

-- name: lost_messages
SELECT * FROM lost_messages ORDER BY scope, host, epoch, number;

-- name: outcome_counts
SELECT * FROM outcome_counts ORDER BY scope, level, key, mode;

-- name: outcomes
SELECT * FROM outcomes ORDER BY outcome_id;

-- name: parked_outcomes
SELECT * FROM parked_outcomes ORDER BY evaluation_id, outcome_id;

-- name: payloads
SELECT * FROM payloads ORDER BY payload;

-- name: reflection_hosts
SELECT * FROM reflection_hosts ORDER BY scope, host;

-- name: reflections
SELECT * FROM reflections ORDER BY cycle_id;

-- name: rejections
SELECT * FROM rejections ORDER BY place;

-- name: resting
SELECT * FROM resting ORDER BY scope, evidence_id, id;

-- name: stops
SELECT * FROM stops ORDER BY stop;

-- name: turns
SELECT * FROM turns ORDER BY scope, host, turn_id;

-- name: unread_observations
SELECT * FROM unread_observations ORDER BY scope, speaker;
