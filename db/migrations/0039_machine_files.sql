ALTER TABLE `server_sessions` ADD `files_phase` text;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `files_mode` text;