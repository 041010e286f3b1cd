-- read_results.sql: the results of the events $1. After $2 bytes of results, the others are null.
SELECT id, CASE WHEN bytes_before < $2 THEN result END
  FROM (SELECT id, result, sum(octet_length(result)) OVER (ORDER BY id) - octet_length(result) AS bytes_before
          FROM eventq.event_result
         WHERE id = ANY ($1::bigint[])) AS r
 ORDER BY id;
