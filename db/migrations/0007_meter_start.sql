UPDATE `server_sessions` SET `billed_from` = `running_at` WHERE `running_at` IS NOT NULL;
