CREATE TABLE leases (
    lease_id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    generation INTEGER NOT NULL CHECK (generation > 0),
    host_epoch TEXT NOT NULL,
    authority TEXT NOT NULL,
    provider_locality TEXT NOT NULL CHECK (provider_locality IN ('local', 'nonlocal')),
    began_at INTEGER NOT NULL,
    heard_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('live', 'disabled', 'expired', 'stopped', 'superseded')),
    resumed INTEGER NOT NULL CHECK (resumed IN (0, 1)),
    UNIQUE (scope, host, generation)
) STRICT;
CREATE INDEX leases_live ON leases (expires_at) WHERE state = 'live';

-- name: begin
INSERT INTO leases (lease_id, scope, host, generation, host_epoch, authority, provider_locality,
                    began_at, heard_at, expires_at, state, resumed)
VALUES (:lease_id, :scope, :host, :generation, :host_epoch, :authority, :provider_locality,
        :at_ms, :at_ms, :expires_at, 'live', :resumed);

-- name: renew
UPDATE leases SET heard_at = :at_ms, expires_at = :expires_at WHERE lease_id = :lease_id;

-- name: finish
UPDATE leases SET state = :reason WHERE lease_id = :lease_id;

-- name: current
SELECT * FROM leases WHERE scope = :scope AND host = :host ORDER BY generation DESC LIMIT 1;

-- name: find
SELECT * FROM leases WHERE lease_id = :lease_id;

-- name: live
SELECT * FROM leases INDEXED BY leases_live WHERE state = 'live' ORDER BY expires_at;

-- name: expired
SELECT * FROM leases WHERE state = 'live' AND expires_at <= :now_ms ORDER BY expires_at LIMIT 64;
