-- drop_failed_hours.sql: deletes hours that are too old for any report.
DELETE FROM eventq.failed_hour WHERE hour < $1;
