CREATE TABLE backups (
    backup_id TEXT PRIMARY KEY,
    place TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    made_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What a restored ledger was restored from, until its fold is over and that is an event.
CREATE TABLE restored_from (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    told BLOB NOT NULL
) STRICT;

-- name: record
INSERT INTO backups (backup_id, place, sequence, made_at, made_by)
VALUES (:backup_id, :place, :sequence, :at_ms, :by);

-- name: find
SELECT * FROM backups WHERE backup_id = :backup_id;

-- name: newest
SELECT * FROM backups ORDER BY backup_id DESC LIMIT :max_rows;

-- name: note_restored
INSERT OR REPLACE INTO restored_from (one, told) VALUES (1, :told);

-- name: take_restored
DELETE FROM restored_from WHERE one = 1 RETURNING told;
