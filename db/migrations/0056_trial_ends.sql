ALTER TABLE `server_sessions` ADD `in_trial` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `default_ends_at` integer;