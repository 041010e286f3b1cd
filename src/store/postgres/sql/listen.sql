-- listen.sql: receives the hints of all servers on this database. ping.sql counts connections by this application_name.
SET application_name = 'eventq hints';
LISTEN eventq;
