-- read_application.sql: whose file this is; ours says 0x4576516e ("EvQn").
PRAGMA application_id;
