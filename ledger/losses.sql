-- Grows with what a damaged store has lost, and with nothing else.
CREATE TABLE lost_messages (
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    epoch TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number > 0),
    closed_at INTEGER NOT NULL,
    PRIMARY KEY (scope, host, epoch, number)
) STRICT, WITHOUT ROWID;

-- name: record
INSERT INTO lost_messages (scope, host, epoch, number, closed_at)
VALUES (:scope, :host, :epoch, :number, :at_ms);
