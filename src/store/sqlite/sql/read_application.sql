-- read_application.sql: whose file this is; ours says 0x45765120 ("EvQ ").
PRAGMA application_id;
