-- name: hash_at
SELECT hash FROM journal WHERE sequence = :sequence;
