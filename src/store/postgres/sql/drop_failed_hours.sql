-- drop_failed_hours.sql: older ones than anybody asks for.
DELETE FROM eventq.failed_hour WHERE hour < $1;
