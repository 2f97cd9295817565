-- What names a piece of evidence, for it or against it; the text of such a thing may quote it.
CREATE TABLE resting (
    scope TEXT NOT NULL,
    evidence_id TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (scope, evidence_id, id)
) STRICT, WITHOUT ROWID;

-- name: rest
INSERT OR IGNORE INTO resting (scope, evidence_id, id)
SELECT :scope, named.value, :id FROM json_each(:evidence_ids) AS named;

-- name: on_evidence
SELECT id FROM resting WHERE scope = :scope AND evidence_id = :evidence_id ORDER BY id;
