CREATE TABLE journal (
    sequence INTEGER PRIMARY KEY CHECK (sequence > 0),
    subject TEXT NOT NULL,
    body BLOB NOT NULL,
    hash TEXT NOT NULL
) STRICT;

-- name: head
SELECT sequence, hash FROM journal ORDER BY sequence DESC LIMIT 1;

-- name: append
INSERT INTO journal (sequence, subject, body, hash) VALUES (:sequence, :subject, :body, :hash);

-- name: read
SELECT sequence, subject, body, hash FROM journal
WHERE sequence > :after ORDER BY sequence LIMIT :max_rows;

-- name: find
SELECT hash FROM journal WHERE sequence = :sequence;
