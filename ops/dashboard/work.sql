-- Of the ledger; over the whole table, asked by an operator.

-- name: turns
SELECT scope, host, sum(reflection = 'waiting') AS waiting,
       sum(reflection = 'claimed') AS claimed, sum(reflection = 'done') AS done,
       min(iif(reflection = 'waiting', completed_at, NULL)) AS oldest
FROM turns GROUP BY scope, host ORDER BY scope, host LIMIT 256;
