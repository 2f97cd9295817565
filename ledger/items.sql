CREATE TABLE items (
    place INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    item_id TEXT NOT NULL UNIQUE,
    host TEXT NOT NULL,
    cycle_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('belief', 'intention', 'lesson', 'memory', 'recommendation',
                                       'working_state')),
    visibility TEXT NOT NULL CHECK (visibility IN ('local_only', 'shareable')),
    confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    evidence_ids TEXT NOT NULL,
    counterevidence_ids TEXT NOT NULL,
    replaces TEXT,
    contradicts TEXT NOT NULL,
    resolves TEXT,
    about_key TEXT,
    fingerprint TEXT,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    statement_key TEXT NOT NULL,
    commitment TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    admitted_at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('live', 'expired', 'replaced', 'resolved', 'retracted',
                                         'unsupported')),
    closed_by TEXT,
    closed_at INTEGER CHECK ((state = 'live') = (closed_at IS NULL)),
    erased INTEGER NOT NULL DEFAULT 0 CHECK (erased IN (0, 1))
) STRICT;
-- Nothing is said twice at the same time.
CREATE UNIQUE INDEX items_said ON items (scope, statement_key) WHERE state = 'live';
-- Nor what an operator took back.
CREATE INDEX items_retracted ON items (scope, statement_key) WHERE state = 'retracted';
CREATE INDEX items_live ON items (scope, kind, visibility, place) WHERE state = 'live';
CREATE INDEX items_lapsing ON items (admitted_at)
    WHERE state = 'live' AND kind = 'recommendation';

CREATE TABLE contradictions (
    scope TEXT NOT NULL,
    item_id TEXT NOT NULL,
    other_id TEXT NOT NULL,
    PRIMARY KEY (scope, item_id, other_id)
) STRICT, WITHOUT ROWID;

-- name: admit
INSERT INTO items (scope, item_id, host, cycle_id, kind, visibility, confidence, evidence_ids,
                   counterevidence_ids, replaces, contradicts, resolves, about_key, fingerprint,
                   simulated, statement_key, commitment, size_bytes, admitted_at, state)
VALUES (:scope, :item_id, :host, :cycle_id, :kind, :visibility, :confidence, :evidence_ids,
        :counterevidence_ids, :replaces, :contradicts, :resolves, :about_key, :fingerprint,
        :simulated, :statement_key, :commitment, :size_bytes, :at_ms, 'live');

-- name: contradict
INSERT OR IGNORE INTO contradictions (scope, item_id, other_id)
SELECT :scope, :item_id, other.value FROM json_each(:contradicts) AS other;

-- name: close
UPDATE items SET state = :reason, closed_by = :by, closed_at = :at_ms
WHERE scope = :scope AND item_id = :item_id AND state = 'live';

-- name: find
SELECT * FROM items WHERE scope = :scope AND item_id = :item_id;

-- name: said
SELECT item_id FROM items WHERE scope = :scope AND statement_key = :statement_key AND state = 'live';

-- name: retracted
SELECT item_id FROM items
WHERE scope = :scope AND statement_key = :statement_key AND state = 'retracted' LIMIT 1;

-- name: newest
SELECT i.*, p.content, p.payload FROM items AS i
CROSS JOIN payloads AS p ON p.scope = i.scope AND p.id = i.item_id
WHERE i.scope = :scope AND i.kind = :kind AND i.visibility = :visibility AND i.state = 'live'
ORDER BY i.place DESC LIMIT :max_rows;

-- name: open_intentions
SELECT i.*, p.content, p.payload FROM items AS i
CROSS JOIN payloads AS p ON p.scope = i.scope AND p.id = i.item_id
WHERE i.scope = :scope AND i.kind = 'intention' AND i.visibility = :visibility
    AND i.state = 'live' AND i.resolves IS NULL
ORDER BY i.place DESC LIMIT :max_rows;

-- name: working_state
SELECT i.*, p.content, p.payload FROM items AS i
CROSS JOIN payloads AS p ON p.scope = i.scope AND p.id = i.item_id
WHERE i.scope = :scope AND i.kind = 'working_state' AND i.visibility = :visibility
    AND i.state = 'live' AND i.host = :host
ORDER BY i.place DESC LIMIT :max_rows;

-- name: working_ids
SELECT item_id FROM items
WHERE scope = :scope AND kind = 'working_state' AND visibility IN ('local_only', 'shareable')
    AND state = 'live' AND host = :host;

-- name: contradicting
-- The newest contradictions of which both sides still stand.
SELECT c.item_id, c.other_id, i.visibility, o.visibility AS other_visibility, i.admitted_at
FROM items AS i
CROSS JOIN contradictions AS c ON c.scope = i.scope AND c.item_id = i.item_id
CROSS JOIN items AS o ON o.scope = c.scope AND o.item_id = c.other_id AND o.state = 'live'
WHERE i.scope = :scope AND i.kind = 'belief' AND i.visibility = :visibility AND i.state = 'live'
ORDER BY i.place DESC LIMIT :max_rows;

-- name: listed
SELECT i.*, p.content, coalesce(p.payload, 0) AS payload FROM items AS i
LEFT JOIN payloads AS p ON p.scope = i.scope AND p.id = i.item_id
WHERE i.place < :before AND (:scope IS NULL OR i.scope = :scope)
    AND (:kind IS NULL OR i.kind = :kind) AND (:closed OR i.state = 'live')
ORDER BY i.place DESC LIMIT :max_rows;

-- name: shown
SELECT i.*, p.content, coalesce(p.payload, 0) AS payload FROM items AS i
LEFT JOIN payloads AS p ON p.scope = i.scope AND p.id = i.item_id
WHERE i.item_id = :item_id;

-- name: lapsed
SELECT scope, host, item_id FROM items
WHERE kind = 'recommendation' AND state = 'live' AND admitted_at <= :before_ms
ORDER BY admitted_at LIMIT 64;
