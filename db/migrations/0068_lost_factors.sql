CREATE TABLE `factor_removals` (
	`user_id` text PRIMARY KEY NOT NULL,
	`actor` text NOT NULL,
	`reason` text NOT NULL,
	`due_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `factor_removals_due` ON `factor_removals` (`due_at`);