ALTER TABLE `server_sessions` ADD `availability_zone` text;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `trial_warned_at` integer;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `cost_units` integer;