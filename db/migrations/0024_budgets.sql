ALTER TABLE `server_sessions` ADD `budget_cents` integer;--> statement-breakpoint
ALTER TABLE `users` ADD `budget_cents` integer;--> statement-breakpoint
ALTER TABLE `users` ADD `budget_stops` integer DEFAULT false NOT NULL;