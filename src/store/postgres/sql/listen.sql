-- listen.sql: hints of all servers on this database.
LISTEN eventq
