-- name: newest
SELECT item_id, admitted_at FROM items
WHERE scope = :scope AND kind = :kind AND visibility = :visibility AND state = 'live'
ORDER BY place DESC LIMIT :max_rows;

-- name: working_state
SELECT item_id, admitted_at FROM items
WHERE scope = :scope AND kind = 'working_state' AND visibility IN ('local_only', 'shareable')
    AND state = 'live' AND host = :host;
