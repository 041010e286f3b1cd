-- read_application.sql: the application id of the file; a store of eventq has 0x45765120 ("EvQ ").
PRAGMA application_id;
