-- What was forecast beside what came of it: asked by an operator, never while a verdict waits.

-- name: known
SELECT e.evaluation_id, e.scope, e.effect, e.failure_mode AS forecast,
       e.failure_probability AS probability, e.material, e.mitigated,
       o.status, coalesce(o.failure_mode, 'unspecified') AS happened
FROM evaluations AS e
JOIN outcomes AS o ON o.evaluation_id = e.evaluation_id AND o.corrected_by IS NULL
WHERE e.evaluation_id > :after
  AND o.status IN ('succeeded', 'failed')
  AND e.scope = coalesce(:scope, e.scope) AND e.effect = coalesce(:effect, e.effect)
ORDER BY e.evaluation_id LIMIT :rows;

-- name: holds
SELECT h.scope, h.effect, count(*) AS placed, count(h.released_at) AS released,
       count(o.outcome_id) AS run, coalesce(sum(o.status = 'failed'), 0) AS failed
FROM holds AS h
LEFT JOIN outcomes AS o ON o.evaluation_id = h.released_by AND o.corrected_by IS NULL
                       AND o.status IN ('succeeded', 'failed')
WHERE h.scope = coalesce(:scope, h.scope) AND h.effect = coalesce(:effect, h.effect)
GROUP BY h.scope, h.effect;
