-- read_application.sql: 0x4576516e ("EvQn") in a file of notebooks.
PRAGMA application_id;
