-- name: newest
SELECT item_id, admitted_at FROM items
WHERE scope = :scope AND kind = :kind AND visibility = :visibility AND state = 'live'
ORDER BY place DESC LIMIT :max_rows;

-- name: working_state
SELECT item_id, admitted_at FROM items
WHERE scope = :scope AND kind = 'working_state' AND visibility IN ('local_only', 'shareable')
    AND state = 'live' AND host = :host;

-- name: contradicting
SELECT c.item_id, c.other_id, i.admitted_at FROM items AS i
JOIN contradictions AS c ON c.scope = i.scope AND c.item_id = i.item_id
JOIN items AS o ON o.item_id = c.other_id AND o.scope = c.scope AND o.state = 'live'
WHERE i.scope = :scope AND i.kind = 'belief' AND i.visibility = :visibility AND i.state = 'live'
ORDER BY i.place DESC LIMIT :max_rows;
