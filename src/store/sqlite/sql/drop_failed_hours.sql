-- drop_failed_hours.sql: deletes hours before ?1; the metrics read newer hours only.
DELETE FROM failed_hour WHERE hour < ?1;
