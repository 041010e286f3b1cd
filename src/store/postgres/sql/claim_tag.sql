-- claim_tag.sql: as claim.sql, of the ready events with the tag $7. Each row is locked before the next index entry is
-- read, so an event that another transaction has locked costs one step.
{{claim_begins}}, locked AS MATERIALIZED (
  SELECT q.*
    FROM {{claim_ranges}}
   CROSS JOIN LATERAL (SELECT id
                         FROM eventq.event_ready
                        WHERE queue = $1 AND tag = $7 AND {{in_claim_range}}
                        ORDER BY rank, turn) AS r
{{locked_by_id}}
)
{{claimed}}
{{from_locked}}
