CREATE TABLE inbox_watermarks (
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    epoch TEXT NOT NULL,
    through INTEGER NOT NULL CHECK (through >= 0),
    PRIMARY KEY (scope, host, epoch)
) STRICT, WITHOUT ROWID;

-- Numbers above the watermark; they leave as it passes them.
CREATE TABLE inbox_beyond (
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    epoch TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number > 0),
    PRIMARY KEY (scope, host, epoch, number)
) STRICT, WITHOUT ROWID;

-- name: seen
SELECT l.epoch AS ledger_epoch, coalesce(w.through, 0) AS through,
       (SELECT json_group_array(number) FROM (
            SELECT number FROM inbox_beyond
            WHERE scope = :scope AND host = :host AND epoch = :epoch
            ORDER BY number LIMIT 256)) AS beyond
FROM ledger AS l
LEFT JOIN inbox_watermarks AS w ON w.scope = :scope AND w.host = :host AND w.epoch = :epoch
WHERE l.one = 1;

-- name: advance
INSERT INTO inbox_watermarks (scope, host, epoch, through)
VALUES (:scope, :host, :epoch, :through)
ON CONFLICT (scope, host, epoch) DO UPDATE SET through = excluded.through;

-- name: add_beyond
INSERT OR IGNORE INTO inbox_beyond (scope, host, epoch, number)
VALUES (:scope, :host, :epoch, :number);

-- name: is_beyond
SELECT number FROM inbox_beyond
WHERE scope = :scope AND host = :host AND epoch = :epoch AND number = :number;

-- name: beyond
SELECT number FROM inbox_beyond
WHERE scope = :scope AND host = :host AND epoch = :epoch AND number > :through
ORDER BY number LIMIT 256;

-- name: drop_beyond
DELETE FROM inbox_beyond
WHERE scope = :scope AND host = :host AND epoch = :epoch AND number <= :through;
