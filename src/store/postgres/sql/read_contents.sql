-- read_contents.sql: the fields that lists leave out, of the events $1 in their order, until they reach $2 bytes.
SELECT c.id, b.description, b.payload
  FROM (SELECT p.id, i.place, sum(octet_length(p.payload)) OVER (ORDER BY i.place) - octet_length(p.payload) AS bytes_before
          FROM unnest($1::bigint[]) WITH ORDINALITY AS i (id, place)
          JOIN eventq.event_body AS p ON p.id = i.id) AS c
  JOIN eventq.event_body AS b ON b.id = c.id
 WHERE c.bytes_before < $2
 ORDER BY c.place;
