CREATE TABLE payloads (
    payload INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    id TEXT NOT NULL,
    salt BLOB NOT NULL,
    content BLOB NOT NULL,
    detail_digest TEXT,
    UNIQUE (scope, id)
) STRICT;
CREATE INDEX payloads_by_detail ON payloads (scope, detail_digest) WHERE detail_digest IS NOT NULL;

-- name: keep
INSERT INTO payloads (scope, id, salt, content, detail_digest)
VALUES (:scope, :id, :salt, :content, :detail_digest);

-- name: find
SELECT salt, content FROM payloads WHERE scope = :scope AND id = :id;
