-- read_any_tag_queues.sql: the queues whose ready events have a row with the empty tag.
SELECT queue FROM any_tag_queue;
