ALTER TABLE `server_sessions` ADD `container_started_at` integer;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `exit_code` integer;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `died_of` text;