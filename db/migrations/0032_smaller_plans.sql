ALTER TABLE `subscriptions` ADD `next_plan_at` integer;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `plan_ends` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `own_ends_at` integer;