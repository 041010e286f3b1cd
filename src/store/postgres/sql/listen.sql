-- listen.sql: hints of all servers on this database; to them we are known by the name from now on.
SET application_name = 'eventq hints';
LISTEN eventq;
