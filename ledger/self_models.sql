-- Changes of the self-model that were proposed; each waits until the gates and an operator's policy
-- decide on it.
CREATE TABLE evolution_proposals (
    place INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    proposal_id TEXT NOT NULL UNIQUE,
    host TEXT NOT NULL,
    cycle_id TEXT NOT NULL,
    part TEXT NOT NULL,
    visibility TEXT NOT NULL CHECK (visibility IN ('local_only', 'shareable')),
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    evidence_ids TEXT NOT NULL,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    risk TEXT NOT NULL CHECK (risk IN ('low', 'medium', 'high')),
    impact_radius TEXT NOT NULL CHECK (impact_radius IN ('host', 'scope')),
    reversibility TEXT NOT NULL,
    statement_key TEXT NOT NULL,
    commitment TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    proposed_at INTEGER NOT NULL,
    erased INTEGER NOT NULL DEFAULT 0 CHECK (erased IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX evolution_said ON evolution_proposals (scope, statement_key) WHERE erased = 0;

-- name: propose
INSERT INTO evolution_proposals (scope, proposal_id, host, cycle_id, part, visibility, confidence,
                                 evidence_ids, simulated, risk, impact_radius, reversibility,
                                 statement_key, commitment, size_bytes, proposed_at)
VALUES (:scope, :proposal_id, :host, :cycle_id, :part, :visibility, :confidence, :evidence_ids,
        :simulated, :risk, :impact_radius, :reversibility, :statement_key, :commitment,
        :size_bytes, :at_ms);

-- name: said
SELECT proposal_id FROM evolution_proposals
WHERE scope = :scope AND statement_key = :statement_key AND erased = 0;

-- name: waiting
SELECT count(*) AS waiting FROM evolution_proposals WHERE scope = :scope AND erased = 0;

-- name: listed
SELECT e.*, p.content FROM evolution_proposals AS e
LEFT JOIN payloads AS p ON p.scope = e.scope AND p.id = e.proposal_id
WHERE e.place < :before AND (:scope IS NULL OR e.scope = :scope)
ORDER BY e.place DESC LIMIT :max_rows;

-- name: shown
SELECT e.*, p.content FROM evolution_proposals AS e
LEFT JOIN payloads AS p ON p.scope = e.scope AND p.id = e.proposal_id
WHERE e.proposal_id = :proposal_id;
