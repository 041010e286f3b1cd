-- drop_failed_hours.sql: older ones than anybody asks for.
DELETE FROM failed_hour WHERE hour < ?1;
