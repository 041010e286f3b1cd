-- sqlite_set_mark.sql: all rows of table ?1 up to the key (?2, ?3, ?4) are written.
UPDATE move SET step = ?1, key1 = ?2, key2 = ?3, key3 = ?4;
