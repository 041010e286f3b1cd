-- mark_application.sql: claim a new file as ours: 0x45765120 is "EvQ ".
PRAGMA application_id = 1165381920;
