ALTER TABLE `server_sessions` ADD `until_exit` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `command` text;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `exited_at` integer;