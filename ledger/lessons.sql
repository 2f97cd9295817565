CREATE TABLE lessons (
    scope TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    effect TEXT NOT NULL,
    definition_hash TEXT NOT NULL,
    runs INTEGER NOT NULL CHECK (runs >= 0),
    state TEXT NOT NULL CHECK (state IN ('demoted', 'gathering', 'mature')),
    reason TEXT CHECK (reason IN ('failed_run', 'lost_support', 'redefined_tool')),
    changed_by TEXT NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (scope, fingerprint)
) STRICT, WITHOUT ROWID;

-- Evidence stands for one run of its scope, however many receipts are alike.
CREATE TABLE lesson_runs (
    outcome_id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    evaluation_id TEXT NOT NULL UNIQUE,
    evidence_id TEXT NOT NULL,
    supported_at INTEGER NOT NULL,
    UNIQUE (scope, evidence_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX lesson_runs_of ON lesson_runs (scope, fingerprint, outcome_id);

-- name: support
INSERT INTO lesson_runs (outcome_id, scope, fingerprint, evaluation_id, evidence_id, supported_at)
VALUES (:outcome_id, :scope, :fingerprint, :evaluation_id, :evidence_id, :at_ms);

-- name: gather
INSERT INTO lessons (scope, fingerprint, server, tool, effect, definition_hash, runs, state,
                     changed_by, changed_at)
SELECT :scope, :fingerprint, e.server, e.tool, e.effect, :definition_hash, 1, 'gathering',
       :outcome_id, :at_ms
FROM evaluations AS e WHERE e.evaluation_id = :evaluation_id
ON CONFLICT (scope, fingerprint) DO UPDATE SET
    definition_hash = excluded.definition_hash,
    runs = runs + 1,
    state = CASE state WHEN 'demoted' THEN 'gathering' ELSE state END,
    changed_by = excluded.changed_by,
    changed_at = excluded.changed_at;

-- name: mature
UPDATE lessons SET state = 'mature', reason = NULL, changed_by = :by, changed_at = :at_ms
WHERE scope = :scope AND fingerprint = :fingerprint;

-- name: forget_run
DELETE FROM lesson_runs WHERE outcome_id = :outcome_id;

-- name: forget_runs
DELETE FROM lesson_runs WHERE scope = :scope AND fingerprint = :fingerprint;

-- name: demote
UPDATE lessons SET state = 'demoted', reason = :reason, runs = runs - :lost, changed_by = :by,
                   changed_at = :at_ms
WHERE scope = :scope AND fingerprint = :fingerprint;

-- name: find
SELECT fingerprint, definition_hash, runs, state FROM lessons
WHERE scope = :scope AND fingerprint = :fingerprint;

-- name: newest_runs
SELECT outcome_id FROM lesson_runs WHERE scope = :scope AND fingerprint = :fingerprint
ORDER BY outcome_id DESC LIMIT :max_rows;

-- name: cited
-- What the three newest runs named and was not erased since; each names 64 at most.
SELECT ev.evidence_id, ev.source FROM (
    SELECT evaluation_id FROM lesson_runs WHERE scope = :scope AND fingerprint = :fingerprint
    ORDER BY outcome_id DESC LIMIT 3
) AS r
JOIN evaluations AS e ON e.evaluation_id = r.evaluation_id
JOIN json_each(e.cited) AS named
JOIN evidence AS ev ON ev.scope = :scope AND ev.evidence_id = named.value AND ev.erased = 0
LIMIT 1;

-- name: run_of_evidence
SELECT outcome_id, evaluation_id, evidence_id, fingerprint FROM lesson_runs
WHERE scope = :scope AND evidence_id = :id;

-- name: run_of_evaluation
SELECT outcome_id, evaluation_id, evidence_id, fingerprint FROM lesson_runs
WHERE evaluation_id = :id AND scope = :scope;

-- name: free_evidence
-- Of the newest that show the receipt those that were seen after the verdict.
SELECT e.evidence_id, e.sequence FROM (
    SELECT id FROM payloads WHERE scope = :scope AND detail_digest = :digest
    ORDER BY payload DESC LIMIT 64
) AS p
JOIN evidence AS e ON e.scope = :scope AND e.evidence_id = p.id
WHERE e.trust <> 'model' AND e.erased = 0 AND e.observed_at >= :since
  AND NOT EXISTS (SELECT 1 FROM lesson_runs AS r
                  WHERE r.scope = :scope AND r.evidence_id = e.evidence_id);

-- name: unsupported_runs
-- Of the newest runs with the receipt those that no evidence stands for.
SELECT o.outcome_id, o.verified, e.evaluation_id, e.scope, e.fingerprint, e.decided_at FROM (
    SELECT outcome_id FROM (
        SELECT outcome_id FROM outcomes
        WHERE scope = :scope AND receipt_digest = :digest AND expected = 1 AND verified = 0
        ORDER BY rowid DESC LIMIT 64
    )
    UNION ALL
    SELECT outcome_id FROM (
        SELECT outcome_id FROM outcomes
        WHERE scope = :scope AND receipt_digest = :digest AND verified = 1
        ORDER BY rowid DESC LIMIT 64
    )
) AS candidate
JOIN outcomes AS o ON o.outcome_id = candidate.outcome_id
JOIN evaluations AS e ON e.evaluation_id = o.evaluation_id
WHERE o.status = 'succeeded' AND o.corrected_by IS NULL AND e.decided_at <= :seen_at
  AND NOT EXISTS (SELECT 1 FROM lesson_runs AS r WHERE r.outcome_id = o.outcome_id);

-- name: last_failure
SELECT max(e.decided_at) AS decided_at FROM (
    SELECT evaluation_id FROM outcomes
    WHERE scope = :scope AND fingerprint = :fingerprint AND status = 'failed'
      AND corrected_by IS NULL
    ORDER BY outcome_id DESC LIMIT 8
) AS o
JOIN evaluations AS e ON e.evaluation_id = o.evaluation_id;

-- name: ended_run
SELECT o.receipt_digest, e.evaluation_id, e.scope, e.fingerprint, e.decided_at FROM outcomes AS o
JOIN evaluations AS e ON e.evaluation_id = o.evaluation_id
WHERE o.outcome_id = :outcome_id;
