-- The newest observation of each scope and speaker that has no payload: what evidence there was
-- before it. It is placed by that, since a ledger that is made again has no other order.
CREATE TABLE unread_observations (
    scope TEXT NOT NULL,
    speaker TEXT NOT NULL CHECK (speaker IN ('told', 'others', 'unknown')),
    after INTEGER NOT NULL,
    PRIMARY KEY (scope, speaker)
) STRICT, WITHOUT ROWID;

-- name: record
INSERT INTO unread_observations (scope, speaker, after)
SELECT :scope, :speaker, ifnull(max(sequence), 0) FROM evidence WHERE true
ON CONFLICT (scope, speaker) DO UPDATE SET after = excluded.after;

-- name: newest
SELECT speaker, after FROM unread_observations WHERE scope = :scope;
