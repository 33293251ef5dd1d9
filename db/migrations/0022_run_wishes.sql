ALTER TABLE `server_sessions` ADD `name` text;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `ends_at` integer;