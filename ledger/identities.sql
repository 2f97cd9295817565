CREATE TABLE identities (
    scope TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    identity_id TEXT NOT NULL UNIQUE,
    configured_by TEXT NOT NULL,
    configured_at INTEGER NOT NULL,
    commitment TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    PRIMARY KEY (scope, version)
) STRICT, WITHOUT ROWID;

-- name: configure
INSERT INTO identities (scope, version, identity_id, configured_by, configured_at, commitment,
                        size_bytes)
VALUES (:scope, :version, :identity_id, :by, :at_ms, :commitment, :size_bytes);

-- name: current
SELECT i.*, p.content FROM identities AS i
LEFT JOIN payloads AS p ON p.scope = i.scope AND p.id = i.identity_id
WHERE i.scope = :scope ORDER BY i.version DESC LIMIT :max_rows;
