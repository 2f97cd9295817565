-- Of the ledger; over the whole table, asked by an operator.

-- name: turns
SELECT scope, host, sum(reflection = 'waiting') AS waiting,
       sum(reflection = 'claimed') AS claimed, sum(reflection = 'done') AS done,
       min(iif(reflection = 'waiting', completed_at, NULL)) AS oldest
FROM turns GROUP BY scope, host ORDER BY scope, host LIMIT 256;

-- name: cycles
SELECT cycle_id, scope, host, trigger, turns, claimed_at, result, reason, admitted,
       proposed, rejected, tokens, ms
FROM reflections ORDER BY cycle_id DESC LIMIT :max_rows;
