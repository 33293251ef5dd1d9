ALTER TABLE `server_sessions` ADD `registry` text;--> statement-breakpoint
ALTER TABLE `secrets` ADD `username` text;