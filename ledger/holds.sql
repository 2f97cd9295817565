CREATE TABLE holds (
    hold_id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    evaluation_id TEXT NOT NULL,
    effect TEXT NOT NULL,
    resource_keys TEXT NOT NULL,
    reason TEXT NOT NULL,
    lift TEXT NOT NULL CHECK (lift IN ('evidence_about_resource', 'trusted_value')),
    cited TEXT NOT NULL,
    placed_at INTEGER NOT NULL,
    released_at INTEGER,
    released_by TEXT,
    release_evidence TEXT
) STRICT;

-- Open holds only, one row a resource.
CREATE TABLE held_resources (
    resource_key TEXT NOT NULL,
    hold_id TEXT NOT NULL,
    PRIMARY KEY (resource_key, hold_id)
) STRICT, WITHOUT ROWID;

-- name: place
INSERT INTO holds (hold_id, scope, host, evaluation_id, effect, resource_keys, reason, lift, cited,
                   placed_at)
VALUES (:hold_id, :scope, :host, :evaluation_id, :effect, :resource_keys, :reason, :lift, :cited,
        :at_ms);

-- name: hold_resource
INSERT INTO held_resources (resource_key, hold_id) VALUES (:resource_key, :hold_id);

-- name: find
SELECT * FROM holds WHERE hold_id = :hold_id;

-- name: release
UPDATE holds SET released_at = :at_ms, released_by = :evaluation_id,
                 release_evidence = :evidence_ids
WHERE hold_id = :hold_id;

-- name: free_resource
DELETE FROM held_resources WHERE resource_key = :resource_key AND hold_id = :hold_id;

-- name: on_resource
SELECT h.* FROM held_resources AS r JOIN holds AS h ON h.hold_id = r.hold_id
WHERE r.resource_key = :resource_key ORDER BY r.hold_id;
