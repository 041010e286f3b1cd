-- listen.sql: receives the hints of all servers on this database. Other servers count the connections with this application_name.
SET application_name = 'eventq hints';
LISTEN eventq;
