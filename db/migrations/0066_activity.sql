CREATE TABLE `refused_sign_ins` (
	`user_id` text NOT NULL,
	`hour` integer NOT NULL,
	`wrong` text NOT NULL,
	`count` integer NOT NULL,
	`last_at` integer NOT NULL,
	`user_agent` text,
	`address` text,
	PRIMARY KEY(`user_id`, `hour`, `wrong`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `refused_sign_ins_by_hour` ON `refused_sign_ins` (`hour`);--> statement-breakpoint
ALTER TABLE `outbox` ADD `act` text;--> statement-breakpoint
ALTER TABLE `sign_ins` ADD `new_browser` integer DEFAULT false NOT NULL;