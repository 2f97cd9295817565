-- name: remembers
SELECT 1 FROM items
WHERE scope = :scope AND kind IN ('belief', 'lesson', 'memory')
    AND visibility IN ('local_only', 'shareable') AND state = 'live'
LIMIT 1;

-- name: working_state
SELECT item_id, admitted_at FROM items
WHERE scope = :scope AND kind = 'working_state' AND visibility IN ('local_only', 'shareable')
    AND state = 'live' AND host = :host;
