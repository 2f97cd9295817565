CREATE TABLE file (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    host_epoch TEXT NOT NULL,
    ledger_epoch TEXT,
    boot TEXT,
    next_number INTEGER NOT NULL CHECK (next_number >= 1),
    promised INTEGER NOT NULL CHECK (promised >= 0),
    acknowledged INTEGER NOT NULL CHECK (acknowledged BETWEEN 0 AND next_number - 1),
    outbox_rows INTEGER NOT NULL CHECK (outbox_rows >= 0),
    outbox_bytes INTEGER NOT NULL CHECK (outbox_bytes >= 0),
    open_claims INTEGER NOT NULL CHECK (open_claims >= 0)
) STRICT;

CREATE TABLE reservations (
    number INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    deadline_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX reservations_by_owner ON reservations (owner);
CREATE INDEX reservations_by_deadline ON reservations (deadline_ms);

CREATE TABLE claims (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('outcome', 'audit')),
    owner TEXT NOT NULL,
    proposal_hash TEXT NOT NULL,
    call_id TEXT NOT NULL,
    cause TEXT NOT NULL,
    claimed_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    number INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_open ON claims (owner) WHERE number IS NULL;
CREATE INDEX claims_finished ON claims (expires_at) WHERE number IS NOT NULL;

CREATE TABLE outbox (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('outcome', 'audit', 'void')),
    body BLOB NOT NULL,
    sent_ms INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What an operator has set aside: a void goes in its place, and it comes back under a new number.
CREATE TABLE parked (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('outcome', 'audit')),
    body BLOB NOT NULL,
    parked_at INTEGER NOT NULL
) STRICT;

CREATE TRIGGER outbox_grows AFTER INSERT ON outbox BEGIN
    UPDATE file SET outbox_rows = outbox_rows + 1, outbox_bytes = outbox_bytes + length(NEW.body);
END;
CREATE TRIGGER outbox_shrinks AFTER DELETE ON outbox BEGIN
    UPDATE file SET outbox_rows = outbox_rows - 1, outbox_bytes = outbox_bytes - length(OLD.body);
END;
CREATE TRIGGER claim_opens AFTER INSERT ON claims BEGIN
    UPDATE file SET open_claims = open_claims + 1;
END;
CREATE TRIGGER claim_closes AFTER UPDATE OF number ON claims
WHEN OLD.number IS NULL AND NEW.number IS NOT NULL BEGIN
    UPDATE file SET open_claims = open_claims - 1;
END;

-- name: create
INSERT INTO file
    (id, host_epoch, boot, next_number, promised, acknowledged, outbox_rows, outbox_bytes,
    open_claims)
VALUES (1, :host_epoch, :boot, 1, 0, 0, 0, 0, 0) ON CONFLICT (id) DO NOTHING;

-- name: state
SELECT host_epoch, ledger_epoch, boot, next_number, promised, acknowledged, outbox_rows,
    outbox_bytes, open_claims
FROM file WHERE id = 1;

-- name: take_numbers
UPDATE file SET next_number = next_number + :count WHERE id = 1
RETURNING next_number - :count AS first;

-- name: promise
UPDATE file SET promised = next_number - 1 + :count
WHERE id = 1 AND promised < next_number - 1 + :count / 2;

-- name: rebooted
UPDATE file SET boot = :boot, acknowledged = next_number - 1 WHERE id = 1;

-- name: acknowledge
UPDATE file SET acknowledged = :number WHERE id = 1 AND acknowledged < :number;

-- name: reserve
INSERT INTO reservations (number, owner, deadline_ms) VALUES (:number, :owner, :deadline_ms);

-- name: release
DELETE FROM reservations WHERE number = :number;

-- name: late_reservations
SELECT number FROM reservations WHERE deadline_ms < :now_ms ORDER BY number;

-- name: reservations_of
SELECT number FROM reservations WHERE owner = :owner ORDER BY number;

-- name: claim
INSERT INTO claims
    (id, kind, owner, proposal_hash, call_id, cause, claimed_at, expires_at)
VALUES (:id, :kind, :owner, :proposal_hash, :call_id, :cause, :claimed_at, :expires_at)
ON CONFLICT (id) DO NOTHING;

-- name: close_claim
UPDATE claims SET number = :number
WHERE id = :id AND kind = :kind AND proposal_hash = :proposal_hash AND number IS NULL;

-- name: open_claims_of
SELECT id, kind, proposal_hash, call_id, cause FROM claims
WHERE number IS NULL AND owner = :owner ORDER BY claimed_at, id;

-- name: forget_claims
DELETE FROM claims WHERE number IS NOT NULL AND expires_at < :before_ms AND number <= :through;

-- name: owners
SELECT owner FROM claims WHERE number IS NULL
UNION
SELECT owner FROM reservations;

-- name: post
INSERT INTO outbox (number, kind, body) VALUES (:number, :kind, :body);

-- name: post_lost
INSERT INTO outbox (number, kind, body)
SELECT :number, 'void', :body FROM file
WHERE id = 1 AND :number <= acknowledged
AND NOT EXISTS (SELECT 1 FROM outbox WHERE number = :number)
AND NOT EXISTS (SELECT 1 FROM reservations WHERE number = :number);

-- name: pending
SELECT number, kind, body FROM outbox
WHERE number > :after AND sent_ms < :before_ms ORDER BY number LIMIT :limit;

-- name: sent
UPDATE outbox SET sent_ms = :now_ms WHERE number = :number;

-- name: send_all_again
UPDATE outbox SET sent_ms = 0 WHERE number > 0;

-- name: set_ledger_epoch
UPDATE file SET ledger_epoch = :ledger_epoch WHERE id = 1;

-- name: drop_through
DELETE FROM outbox WHERE number <= :through;

-- name: drop
DELETE FROM outbox WHERE number = :number;

-- name: set_aside
INSERT INTO parked (number, kind, body, parked_at)
SELECT number, kind, body, :now_ms FROM outbox WHERE number = :number AND kind <> 'void';

-- name: take_back
DELETE FROM parked WHERE number = :number RETURNING kind, body;

-- name: count_parked
SELECT count(*) AS parked FROM parked;
