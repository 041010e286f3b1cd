-- insert_body.sql: what never changes of new events.
INSERT INTO eventq.event_body (id, event_id, queue, title, tags, correlation_id, ordering_key, supersede_key,
                               priority, max_retries, retry, created_at, sequence, timestamp, causation_id, trace_id,
                               pattern, version, source_type, source_id, source_name, attributes, description, payload)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                     $9::bigint[], $10::bigint[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[],
                     $15::text[], $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::text[],
                     $22::text[], $23::text[], $24::text[])
