-- add_any_tag_queue.sql: from now on the ready events of this queue have a row with the empty tag.
INSERT INTO any_tag_queue (queue) VALUES (?1);
