-- sqlite_set_mark.sql: table ?1 is there up to the key ?2, ?3, ?4.
UPDATE move SET step = ?1, key1 = ?2, key2 = ?3, key3 = ?4;
