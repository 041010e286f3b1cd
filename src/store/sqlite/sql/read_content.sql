-- read_content.sql: the fields of an event that lists leave out.
SELECT {{content}} FROM event_body AS b WHERE b.id = ?1;
