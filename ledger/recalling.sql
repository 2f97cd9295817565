-- name: numbered
SELECT i.*, p.content, p.payload FROM json_each(:payloads) AS wanted
CROSS JOIN payloads AS p ON p.payload = wanted.value
CROSS JOIN items AS i ON i.scope = p.scope AND i.item_id = p.id
WHERE p.scope = :scope AND i.state = 'live';

-- name: holding
SELECT rowid AS payload FROM payload_words WHERE payload_words MATCH :word
ORDER BY rowid DESC LIMIT :max_rows;

-- name: newest_payload
SELECT coalesce(max(payload), 0) AS payload FROM payloads;
