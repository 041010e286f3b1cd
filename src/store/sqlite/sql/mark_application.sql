-- mark_application.sql: marks a new file as a store of eventq: 0x45765120 is "EvQ ".
PRAGMA application_id = 1165381920;
