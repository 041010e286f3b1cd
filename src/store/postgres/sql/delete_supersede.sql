-- delete_supersede.sql: deletes the supersede keys of events that are no longer pending. Finds rows as leave.sql does.
DELETE FROM eventq.event_supersede AS s
 USING unnest($1::eventq.event_supersede[]) AS c
       CROSS JOIN LATERAL (SELECT ctid AS row FROM eventq.event_supersede
                            WHERE queue = c.queue AND supersede_key = c.supersede_key AND id = c.id
                           OFFSET 0) AS found
 WHERE s.ctid = found.row
